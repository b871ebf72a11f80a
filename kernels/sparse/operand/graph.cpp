#include <bit>

#include "kernels/sparse/operand/pattern.h"
#include "kernels/sparse/operand/sources.h"
#include "sim/base/ranges.h"
#include "sim/data/random.h"
#include "sim/data/seeded.h"

namespace tessera::sparse {

namespace {

/// The smallest side of a grid that holds `points`.
std::uint32_t side_of(std::uint32_t points, unsigned dimensions) {
  std::uint32_t side = 1;
  const auto holds = [&] {
    return std::uint64_t{side} * side * (dimensions == 3 ? side : 1) >= points;
  };
  while (!holds()) ++side;
  return side;
}

/// Draws R-MAT edges among at least `vertices` vertices, a power of two. A quadrant takes 32 random
/// bits.
class EdgeDraws {
 public:
  EdgeDraws(std::uint64_t seed, std::uint32_t vertices)
      : seed_(seed),
        vertices_(vertices),
        levels_(static_cast<int>(std::bit_width(vertices - 1U))) {}

  /// The next edge between vertices below `vertices`, as source << 32 | target.
  std::uint64_t next() {
    for (;;) {
      std::uint64_t row = 0;
      std::uint64_t column = 0;
      for (int level = 0; level < levels_; ++level) {
        const unsigned quadrant = next_quadrant();
        row = row << 1 | quadrant >> 1;
        column = column << 1 | (quadrant & 1);
      }
      if (row < vertices_ && column < vertices_) return row << 32 | column;
    }
  }

 private:
  /// 0: first half of rows and of columns (probability a); 1: b; 2: c; 3: the rest.
  unsigned next_quadrant() {
    constexpr double kScale = 0x1p32;
    constexpr auto kA = static_cast<std::uint64_t>(0.57 * kScale);
    constexpr auto kAb = static_cast<std::uint64_t>(0.76 * kScale);
    constexpr auto kAbc = static_cast<std::uint64_t>(0.95 * kScale);
    const std::uint64_t bits = data::random_bits(seed_, kPatternStream, draws_ / 2);
    const std::uint64_t draw = draws_++ % 2 == 0 ? bits >> 32 : bits & 0xffffffff;
    return draw < kA ? 0 : draw < kAb ? 1 : draw < kAbc ? 2 : 3;
  }

  std::uint64_t seed_;
  std::uint64_t vertices_;
  int levels_;
  std::uint64_t draws_ = 0;
};

}  // namespace

data::SparseMatrix poisson_matrix(std::uint32_t m, unsigned dimensions) {
  const std::uint32_t side = side_of(m, dimensions);
  data::SparseMatrix w{m, m, {0}, {}, {}};
  const std::uint64_t strides[] = {1, side, std::uint64_t{side} * side};
  const auto add = [&w](std::uint64_t column, double value) {
    w.column.push_back(static_cast<std::uint32_t>(column));
    w.value.push_back(value);
  };
  for (std::uint64_t point = 0; point < m; ++point) {
    for (unsigned d = dimensions; d-- > 0;) {
      if (point / strides[d] % side > 0) add(point - strides[d], -1);
    }
    add(point, 2.0 * dimensions);
    for (unsigned d = 0; d < dimensions; ++d) {
      const std::uint64_t next = point + strides[d];
      if (point / strides[d] % side + 1 < side && next < m) add(next, -1);
    }
    w.row_begin.push_back(w.column.size());
  }
  return w;
}

data::SparseMatrix rmat_matrix(const WeightOptions& weights) {
  const std::uint32_t m = weights.m;
  EdgeDraws draws(weights.seed, m);
  std::vector<std::uint64_t> edges(share_of(std::uint64_t{m} * m, weights.density));
  for (std::uint64_t& edge : edges) edge = draws.next();
  edges = sorted_once(std::move(edges));

  data::SparseMatrix w{m, m, std::vector<std::uint64_t>(m + std::size_t{1}, 0), {}, {}};
  for (const std::uint64_t edge : edges) {
    ++w.row_begin[(edge >> 32) + 1];
    w.column.push_back(static_cast<std::uint32_t>(edge));
  }
  for (std::size_t i = 1; i < w.row_begin.size(); ++i) w.row_begin[i] += w.row_begin[i - 1];
  fill_seeded(w, weights);
  return w;
}

double seeded_value(const WeightOptions& weights, std::uint64_t row, std::uint64_t column,
                    std::uint64_t columns) {
  return data::Seeded{weights.dtype, weights.seed, kValueStream}.element(row * columns + column);
}

void fill_seeded(data::SparseMatrix& w, const WeightOptions& weights) {
  w.value.resize(w.column.size());
  for (std::uint32_t row = 0; row < w.rows; ++row) {
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
      w.value[e] = seeded_value(weights, row, w.column[e], w.columns);
    }
  }
}

BlockMatrix filled(const BlockPattern& pattern, const WeightOptions& weights) {
  BlockMatrix w{weights.m, weights.k, weights.block, pattern.row_begin, pattern.column, {}, 0};
  w.value.resize(w.blocks() * w.block * w.block);
  w.for_elements([&](std::uint64_t row, std::uint64_t column, std::uint64_t at) {
    w.value[at] = static_cast<float>(seeded_value(weights, row, column, w.columns));
    ++w.nonzeros;
  });
  return w;
}

}  // namespace tessera::sparse
