#pragma once

#include "kernels/sparse/replay.h"
#include "kernels/spmm_dynamic/plan.h"

namespace tessera::spmm_dynamic {

/// What the machine makes of rows of W X[k, n], to the bit. `w` outlives it.
sparse::RowReplay replay_of(const Problem& problem, const PoolShape& shape, const Packing& packing,
                            const sparse::BlockMatrix& w);

/// What it makes of elements of Yg X^T at the places of W's blocks, to the bit.
class ValueReplay {
 public:
  ValueReplay(const Problem& problem, const PoolShape& shape, const Packing& packing,
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
