#pragma once

#include "kernels/sparse/check.h"
#include "kernels/spmm_static/partition.h"

namespace tessera::spmm_static {

/// The bit-exact reference of rows of W X[k, n]. As many columns as the partition has are
/// multiplied at a time. Partition and W outlive it.
sparse::ExactRow exact_rows(const Partition& partition, const sparse::BlockMatrix& w,
                            std::uint32_t n);

/// Compares Y = W X as sparse::check_product().
CheckResult check_product(const Partition& partition, const sparse::BlockMatrix& w,
                          std::span<const float> x, std::uint32_t n, std::span<const float> y,
                          const CheckRequest& request);

}  // namespace tessera::spmm_static
