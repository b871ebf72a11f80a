#pragma once

#include <cstdint>
#include <vector>

namespace tessera::sparse {

/// Which blocks of a matrix hold nonzeros, by block rows.
struct BlockPattern {
  std::uint32_t rows = 0;  ///< of blocks
  std::uint32_t columns = 0;
  std::vector<std::uint64_t> row_begin;  ///< rows + 1 offsets
  std::vector<std::uint32_t> column;     ///< ascending in a row

  [[nodiscard]] std::uint64_t places() const { return std::uint64_t{rows} * columns; }
};

/// ceil(density x places), where density x places that is whole but for its rounding stays whole.
std::uint64_t share_of(std::uint64_t places, double density);

/// A set of `wanted` of the numbers below `places`, each such set equally likely, ascending. The
/// work is that of the smaller of wanted (times its logarithm) and places.
std::vector<std::uint64_t> random_subset(std::uint64_t places, std::uint64_t wanted,
                                         std::uint64_t seed);

/// Exactly share_of(rows x columns, density) blocks, anywhere.
BlockPattern uniform_pattern(std::uint32_t rows, std::uint32_t columns, double density,
                             std::uint64_t seed);

}  // namespace tessera::sparse
