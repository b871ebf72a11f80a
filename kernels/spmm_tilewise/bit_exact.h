#pragma once

#include "kernels/sparse/check.h"
#include "kernels/spmm_tilewise/plan.h"
#include "kernels/spmm_tilewise/storage.h"

namespace tessera::spmm_tilewise {

/// The bit-exact reference of rows of C^T, columns of W times A^T[k, m]. What it is made of
/// outlives it.
sparse::ExactRow exact_rows(const Problem& problem, const TilePattern& pattern, const Plan& plan,
                            const WeightStorage& weights, const DenseWeights& w);

}  // namespace tessera::spmm_tilewise
