#include "kernels/sparse/pattern.h"

#include <algorithm>
#include <cmath>

#include "kernels/sparse/streams.h"
#include "sim/data/random.h"

namespace tessera::sparse {

namespace {

/// One draw a place decides whether it is taken (Knuth 3.4.2 S).
std::vector<std::uint64_t> subset_by_places(std::uint64_t places, std::uint64_t wanted,
                                            std::uint64_t seed) {
  std::vector<std::uint64_t> chosen;
  chosen.reserve(wanted);
  for (std::uint64_t place = 0; place < places && chosen.size() < wanted; ++place) {
    const std::uint64_t bits = data::random_bits(seed, kPatternStream, place);
    const double draw = static_cast<double>(bits >> 11) * 0x1p-53;
    const auto left = static_cast<double>(wanted - chosen.size());
    if (draw * static_cast<double>(places - place) < left) chosen.push_back(place);
  }
  return chosen;
}

/// Draws until `wanted` different numbers have come.
std::vector<std::uint64_t> subset_by_draws(std::uint64_t places, std::uint64_t wanted,
                                           std::uint64_t seed) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t draw = 0; chosen.size() < wanted;) {
    const auto old = static_cast<std::ptrdiff_t>(chosen.size());
    for (std::uint64_t missing = wanted - chosen.size(); missing > 0; --missing, ++draw) {
      const std::uint64_t bits = data::random_bits(seed, kPatternStream, draw);
      const auto product = static_cast<unsigned __int128>(bits) * places;
      chosen.push_back(static_cast<std::uint64_t>(product >> 64));
    }
    std::sort(chosen.begin() + old, chosen.end());
    std::inplace_merge(chosen.begin(), chosen.begin() + old, chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  return chosen;
}

}  // namespace

std::uint64_t share_of(std::uint64_t places, double density) {
  const double share = density * static_cast<double>(places);
  const double whole = std::round(share);
  const bool is_whole = std::abs(share - whole) <= share * 0x1p-48;
  return static_cast<std::uint64_t>(is_whole ? whole : std::ceil(share));
}

std::vector<std::uint64_t> random_subset(std::uint64_t places, std::uint64_t wanted,
                                         std::uint64_t seed) {
  constexpr std::uint64_t kDense = 64;  // a sort of one draw costs about as much as 64 draws
  return wanted >= places / kDense ? subset_by_places(places, wanted, seed)
                                   : subset_by_draws(places, wanted, seed);
}

BlockPattern uniform_pattern(std::uint32_t rows, std::uint32_t columns, double density,
                             std::uint64_t seed) {
  BlockPattern pattern{rows, columns, {}, {}};
  pattern.row_begin.assign(rows + std::size_t{1}, 0);
  const std::uint64_t places = pattern.places();
  for (const std::uint64_t place : random_subset(places, share_of(places, density), seed)) {
    ++pattern.row_begin[place / columns + 1];
    pattern.column.push_back(static_cast<std::uint32_t>(place % columns));
  }
  for (std::size_t i = 1; i < pattern.row_begin.size(); ++i) {
    pattern.row_begin[i] += pattern.row_begin[i - 1];
  }
  return pattern;
}

}  // namespace tessera::sparse
