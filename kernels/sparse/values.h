#pragma once

#include "kernels/sparse/block_matrix.h"
#include "kernels/sparse/pattern.h"
#include "kernels/sparse/weights.h"

/// Seeded values: element (i, j) of W[m, k] is the same in every pattern and block size, so that a
/// pattern is a mask over one dense matrix.
namespace tessera::sparse {

/// Uniform in [-1, 1), exact in the type.
double seeded_value(const WeightOptions& weights, std::uint64_t row, std::uint64_t column,
                    std::uint64_t columns);

/// Gives every entry of `w` its seeded value.
void fill_seeded(data::SparseMatrix& w, const WeightOptions& weights);

/// The blocks of `pattern`, whole inside W[m, k].
BlockMatrix filled(const BlockPattern& pattern, const WeightOptions& weights);

}  // namespace tessera::sparse
