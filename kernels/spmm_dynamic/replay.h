#pragma once

#include "kernels/sparse/replay.h"
#include "kernels/spmm_dynamic/plan.h"

namespace tessera::spmm_dynamic {

/// What the machine makes of rows of W X[k, n], to the bit, where sums are kept in f16; empty where
/// they are wider: their bound is as good. `w` outlives it.
sparse::RowReplay replay_of(const Problem& problem, const PoolShape& shape, const Packing& packing,
                            const sparse::BlockMatrix& w);

}  // namespace tessera::spmm_dynamic
