#include "kernels/sparse/weights.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/sparse/pattern.h"
#include "kernels/sparse/streams.h"
#include "sim/base/errors.h"
#include "sim/data/dense_operand.h"
#include "sim/data/element.h"
#include "sim/data/matrix_market.h"
#include "sim/data/random.h"

namespace tessera::sparse {

using program::Type;

namespace {

constexpr config::Names<Type, 2> kTypes{{{"f16", Type::f16}, {"f32", Type::f32}}};
constexpr config::Names<Pattern, 1> kPatterns{{{"uniform", Pattern::uniform}}};
constexpr std::array<std::uint32_t, 4> kBlocks{1, 4, 8, 16};

/// The blocks of a pattern filled with seeded values: element (i, j) has the same value whatever
/// the pattern and the block.
BlockMatrix filled(const BlockPattern& pattern, const WeightOptions& weights) {
  BlockMatrix w{weights.m, weights.k, weights.block, pattern.row_begin, pattern.column, {}, 0};
  const std::uint32_t side = w.block;
  const unsigned bits = data::seeded_bits(weights.dtype);
  w.value.resize(w.blocks() * side * side);
  std::size_t at = 0;
  for (std::uint32_t row = 0; row < pattern.rows; ++row) {
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
      for (std::uint32_t inside = 0; inside < side * side; ++inside, ++at) {
        const std::uint64_t i = std::uint64_t{row} * side + inside / side;
        const std::uint64_t j = std::uint64_t{w.column[e]} * side + inside % side;
        if (i >= w.rows || j >= w.columns) continue;
        w.value[at] = data::random_signed(weights.seed, kValueStream, i * w.columns + j, bits);
        ++w.nonzeros;
      }
    }
  }
  return w;
}

BlockMatrix seeded(const WeightOptions& weights) {
  const std::uint32_t rows = ceil_div(weights.m, weights.block);
  const std::uint32_t columns = ceil_div(weights.k, weights.block);
  return filled(uniform_pattern(rows, columns, weights.density, weights.seed), weights);
}

BlockMatrix from_file(const WeightOptions& weights) {
  data::SparseMatrix w = data::read_matrix_market(weights.matrix);
  if (w.rows == 0 || w.columns == 0) {
    throw UserError(fmt::format("{}: found a matrix of {} x {}, allowed from 1 x 1", weights.matrix,
                                w.rows, w.columns));
  }
  const double largest = data::largest_finite(weights.dtype);
  for (double& value : w.value) {
    if (std::abs(value) > largest) {
      throw UserError(fmt::format("{}: the value {} is outside workload.dtype, allowed up to {}",
                                  weights.matrix, value, largest));
    }
    value = data::rounded(weights.dtype, value);
  }
  return to_blocks(w, weights.block);
}

}  // namespace

void describe(config::Fields& fields, WeightOptions& weights) {
  fields.field({"m", "rows of W and Y; the matrix file's when one is given"}, weights.m,
               {1, 1u << 24});
  fields.field({"k", "columns of W, rows of X; the matrix file's when one is given"}, weights.k,
               {1, 1u << 24});
  fields.field({"block", "side of the blocks of W"}, weights.block, {1, 16});
  fields.require(std::find(kBlocks.begin(), kBlocks.end(), weights.block) != kBlocks.end(), "block",
                 fmt::format("found {}, allowed 1, 4, 8, 16", weights.block));
  fields.field({"pattern", "where the nonzeros of a seeded W lie; uniform: blocks anywhere"},
               weights.pattern, kPatterns);
  fields.field({"density", "blocks of a seeded W that hold nonzeros, over all its blocks"},
               weights.density, {0.0, 1.0});
  fields.file({"matrix", "W as a Matrix Market file (.mtx) instead of a seeded one"},
              weights.matrix);
  fields.field({"dtype", "type of W, X and Y"}, weights.dtype, kTypes);
  fields.field({"seed", "of the pattern and the values"}, weights.seed);
}

BlockMatrix make_weights(const WeightOptions& weights) {
  return weights.matrix.empty() ? seeded(weights) : from_file(weights);
}

}  // namespace tessera::sparse
