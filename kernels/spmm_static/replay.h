#pragma once

#include "kernels/sparse/check.h"
#include "kernels/spmm_static/partition.h"

namespace tessera::spmm_static {

/// What the machine makes of rows of W X[k, n], to the bit. As many columns as the partition has
/// are multiplied at a time. Partition and W outlive it.
sparse::RowReplay replay_of(const Partition& partition, const sparse::BlockMatrix& w,
                            std::uint32_t n);

}  // namespace tessera::spmm_static
