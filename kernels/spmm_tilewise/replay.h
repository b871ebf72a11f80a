#pragma once

#include "kernels/sparse/replay.h"
#include "kernels/spmm_tilewise/plan.h"
#include "kernels/spmm_tilewise/storage.h"

namespace tessera::spmm_tilewise {

/// What the machine makes of rows of C^T, columns of W times A^T[k, m], to the bit. What it is
/// made of outlives it.
sparse::RowReplay replay_of(const Problem& problem, const TilePattern& pattern, const Plan& plan,
                            const WeightStorage& weights, const DenseWeights& w);

}  // namespace tessera::spmm_tilewise
