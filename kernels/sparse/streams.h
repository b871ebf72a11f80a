#pragma once

#include <cstdint>

/// Which stream of a seed each kind of data is drawn from (sim/data/random.h).
namespace tessera::sparse {

constexpr std::uint64_t kPatternStream = 0;
constexpr std::uint64_t kValueStream = 1;
constexpr std::uint64_t kDenseStream = 2;     ///< X
constexpr std::uint64_t kSampleStream = 3;    ///< rows that a check looks at
constexpr std::uint64_t kSignStream = 4;      ///< of a Freivalds test
constexpr std::uint64_t kRowStream = 5;       ///< seeds and order of single rows
constexpr std::uint64_t kGradientStream = 6;  ///< Yg

}  // namespace tessera::sparse
