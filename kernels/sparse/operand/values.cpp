#include "kernels/sparse/operand/sources.h"
#include "sim/data/dense_operand.h"
#include "sim/data/random.h"

namespace tessera::sparse {

double seeded_value(const WeightOptions& weights, std::uint64_t row, std::uint64_t column,
                    std::uint64_t columns) {
  return static_cast<double>(data::random_signed(weights.seed, kValueStream, row * columns + column,
                                                 data::seeded_bits(weights.dtype)));
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
  const std::uint32_t side = w.block;
  w.value.resize(w.blocks() * side * side);
  std::size_t at = 0;
  for (std::uint32_t row = 0; row < pattern.rows; ++row) {
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
      for (std::uint32_t inside = 0; inside < side * side; ++inside, ++at) {
        const std::uint64_t i = std::uint64_t{row} * side + inside / side;
        const std::uint64_t j = std::uint64_t{w.column[e]} * side + inside % side;
        if (i >= w.rows || j >= w.columns) continue;
        w.value[at] = static_cast<float>(seeded_value(weights, i, j, w.columns));
        ++w.nonzeros;
      }
    }
  }
  return w;
}

}  // namespace tessera::sparse
