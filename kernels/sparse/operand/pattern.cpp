#include "kernels/sparse/operand/pattern.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/sparse/operand/sources.h"
#include "sim/base/types.h"
#include "sim/data/random.h"

namespace tessera::sparse {

namespace {

/// The seed of one row: each row is drawn like a matrix of one row.
std::uint64_t row_seed(std::uint64_t seed, std::uint64_t row) {
  return data::random_bits(seed, kRowStream, row);
}

/// Builds a pattern row by row: add(row, columns) appends the kept columns of the row.
template <class Add>
BlockPattern by_rows(std::uint32_t rows, std::uint32_t columns, const Add& add) {
  BlockPattern pattern{rows, columns, {0}, {}, {}};
  pattern.row_begin.reserve(rows + std::size_t{1});
  for (std::uint32_t row = 0; row < rows; ++row) {
    add(row, pattern.column);
    pattern.row_begin.push_back(pattern.column.size());
  }
  return pattern;
}
using Columns = std::vector<std::uint32_t>;

/// Appends a random subset of `wanted` of the `columns` columns from `first` on.
void add_subset(std::uint32_t first, std::uint32_t columns, std::uint64_t wanted,
                std::uint64_t seed, Columns& into) {
  for (const std::uint64_t column : random_subset(columns, wanted, seed))
    into.push_back(first + static_cast<std::uint32_t>(column));
}

/// One draw per place decides whether it is taken (Knuth 3.4.2, algorithm S).
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

__extension__ using Wide = unsigned __int128;

/// Draws until there are `wanted` distinct numbers.
std::vector<std::uint64_t> subset_by_draws(std::uint64_t places, std::uint64_t wanted,
                                           std::uint64_t seed) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t draw = 0; chosen.size() < wanted;) {
    const auto old = static_cast<std::ptrdiff_t>(chosen.size());
    for (std::uint64_t missing = wanted - chosen.size(); missing > 0; --missing, ++draw) {
      const std::uint64_t bits = data::random_bits(seed, kPatternStream, draw);
      const auto product = static_cast<Wide>(bits) * places;
      chosen.push_back(static_cast<std::uint64_t>(product >> 64));
    }
    std::sort(chosen.begin() + old, chosen.end());
    std::inplace_merge(chosen.begin(), chosen.begin() + old, chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  return chosen;
}

std::vector<std::uint32_t> shuffled_rows(std::uint32_t rows, std::uint64_t seed) {
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = rows; i > 1; --i) {
    std::swap(order[i - 1], order[data::random_below(seed, kRowStream, i, i)]);
  }
  return order;
}

/// Blocks of each row by rank: the largest scale whose sizes, clipped to `columns` and rounded
/// down, do not exceed `wanted` in all; the remainder goes to the first rows with space.
std::vector<std::uint32_t> skewed_sizes(std::uint32_t rows, std::uint32_t columns, double skew,
                                        std::uint64_t wanted) {
  std::vector<double> share(rows);
  for (std::uint32_t r = 0; r < rows; ++r) share[r] = std::pow(r + 1.0, -skew);
  const auto size = [&](std::uint32_t r, double scale) {
    return static_cast<std::uint32_t>(std::min(static_cast<double>(columns), scale * share[r]));
  };
  double low = 0;
  double high = static_cast<double>(columns) / share.back();
  for (int step = 0; step < 64; ++step) {
    const double middle = (low + high) / 2;
    std::uint64_t total = 0;
    for (std::uint32_t r = 0; r < rows; ++r) total += size(r, middle);
    (total <= wanted ? low : high) = middle;
  }
  std::vector<std::uint32_t> sizes(rows);
  for (std::uint32_t r = 0; r < rows; ++r) wanted -= sizes[r] = size(r, low);
  for (std::uint32_t r = 0; wanted > 0; r = (r + 1) % rows) {
    if (sizes[r] == columns) continue;
    ++sizes[r];
    --wanted;
  }
  return sizes;
}

}  // namespace

std::uint64_t share_of(std::uint64_t places, double density) {
  const double share = density * static_cast<double>(places);
  const double whole = std::round(share);
  const bool is_whole = std::abs(share - whole) <= share * 0x1p-48;
  return static_cast<std::uint64_t>(is_whole ? whole : std::ceil(share));
}

std::vector<bool> largest(const std::vector<double>& scores, std::uint64_t wanted) {
  std::vector<std::uint64_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(wanted);
  std::nth_element(order.begin(), end, order.end(), [&](std::uint64_t a, std::uint64_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  std::vector<bool> kept(scores.size(), false);
  std::for_each(order.begin(), end, [&](std::uint64_t i) { kept[i] = true; });
  return kept;
}

std::vector<std::uint64_t> random_subset(std::uint64_t places, std::uint64_t wanted,
                                         std::uint64_t seed) {
  constexpr std::uint64_t kDense = 64;  // sorting one draw costs about as much as 64 draws
  return wanted >= places / kDense ? subset_by_places(places, wanted, seed)
                                   : subset_by_draws(places, wanted, seed);
}

BlockPattern uniform_pattern(std::uint32_t rows, std::uint32_t columns, double density,
                             std::uint64_t seed) {
  const std::uint64_t places = std::uint64_t{rows} * columns;
  const std::vector<std::uint64_t> chosen = random_subset(places, share_of(places, density), seed);
  std::size_t next = 0;
  return by_rows(rows, columns, [&](std::uint64_t row, Columns& into) {
    for (; next < chosen.size() && chosen[next] / columns == row; ++next)
      into.push_back(static_cast<std::uint32_t>(chosen[next] % columns));
  });
}

BlockPattern row_skewed_pattern(std::uint32_t rows, std::uint32_t columns, double density,
                                double skew, std::uint64_t seed) {
  const std::uint64_t wanted = share_of(std::uint64_t{rows} * columns, density);
  const std::vector<std::uint32_t> by_rank = skewed_sizes(rows, columns, skew, wanted);
  const std::vector<std::uint32_t> order = shuffled_rows(rows, seed);
  std::vector<std::uint32_t> sizes(rows);
  for (std::uint32_t r = 0; r < rows; ++r) sizes[order[r]] = by_rank[r];
  return by_rows(rows, columns, [&](std::uint32_t row, Columns& into) {
    add_subset(0, columns, sizes[row], row_seed(seed, row), into);
  });
}

BlockPattern n_of_m_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t keep,
                            std::uint32_t group, std::uint64_t seed) {
  const std::uint32_t groups = ceil_div(columns, group);
  return by_rows(rows, columns, [&](std::uint64_t row, Columns& into) {
    for (std::uint32_t g = 0; g < groups; ++g) {
      const std::uint32_t size = std::min(group, columns - g * group);
      add_subset(g * group, size, std::min(keep, size), row_seed(seed, row * groups + g), into);
    }
  });
}

BlockPattern banded_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t bandwidth) {
  return by_rows(rows, columns, [&](std::uint64_t row, Columns& into) {
    const std::uint64_t middle = row * columns / rows;
    const std::uint64_t end = std::min<std::uint64_t>(columns, middle + bandwidth + 1);
    for (std::uint64_t column = middle - std::min<std::uint64_t>(middle, bandwidth); column < end;
         ++column)
      into.push_back(static_cast<std::uint32_t>(column));
  });
}

BlockPattern tile_wise_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t strip,
                               double density, std::uint64_t seed) {
  const BlockPattern strips = uniform_pattern(ceil_div(rows, strip), columns, density, seed);
  return by_rows(rows, columns, [&](std::uint32_t row, Columns& into) {
    const auto at = [&](std::uint32_t i) {
      return strips.column.begin() + static_cast<std::ptrdiff_t>(strips.row_begin[i]);
    };
    into.insert(into.end(), at(row / strip), at(row / strip + 1));
  });
}

std::uint32_t largest_butterfly(std::uint32_t m, std::uint32_t k, std::uint32_t block) {
  std::uint32_t size = 1;
  while (m % (2 * size) == 0 && k % (2 * size) == 0 && std::min(m, k) / (2 * size) >= block)
    size *= 2;
  return size > 1 ? size : 0;
}

BlockPattern butterfly_pattern(std::uint32_t m, std::uint32_t k, std::uint32_t block,
                               const Butterfly& butterfly) {
  const std::uint32_t height = m / butterfly.size;
  const std::uint32_t width = k / butterfly.size;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kept;  // block columns [first, end)
  const auto keep = [&](std::uint32_t first, std::uint32_t end) {
    kept.emplace_back(first / block, ceil_div(end, block));
  };
  return by_rows(ceil_div(m, block), ceil_div(k, block), [&](std::uint32_t row, Columns& into) {
    kept.clear();
    keep(0, row * block < butterfly.global ? k : std::min(butterfly.global, k));
    const std::uint32_t last = std::min((row + 1) * block, m) - 1;
    for (std::uint32_t i = row * block / height; i <= last / height; ++i) {
      keep(i * width, (i + 1) * width);
      for (std::uint32_t factor = 0; factor < butterfly.factors; ++factor) {
        const std::uint32_t j = i ^ (1U << factor);
        keep(j * width, (j + 1) * width);
      }
    }
    std::sort(kept.begin(), kept.end());
    std::uint32_t next = 0;
    for (const auto& [first, end] : kept)
      for (next = std::max(next, first); next < end; ++next) into.push_back(next);
  });
}

}  // namespace tessera::sparse
