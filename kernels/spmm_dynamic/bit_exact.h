#pragma once

#include "kernels/sparse/check.h"
#include "kernels/spmm_dynamic/plan.h"

namespace tessera::spmm_dynamic {

/// The bit-exact reference of rows of W X[k, n]. `w` outlives it.
sparse::ExactRow exact_rows(const Problem& problem, const PoolShape& shape, const Packing& packing,
                            const sparse::BlockMatrix& w);

/// The bit-exact reference of elements of Yg X^T at the places of W's blocks.
class ExactValues {
 public:
  ExactValues(const Problem& problem, const PoolShape& shape, const Packing& packing,
              const sparse::BlockMatrix& w);

  /// Element `at` of block e, of a row of Yg and one of X.
  [[nodiscard]] double element(std::uint64_t e, std::uint32_t at, std::span<const float> left,
                               std::span<const float> right) const;

 private:
  Buffers bytes_;
  PoolShape shape_;
  std::vector<std::uint64_t> first_;  ///< of each block, among the values of its pool
};

}  // namespace tessera::spmm_dynamic
