#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/gemm/shape.h"
#include "kernels/spmm_dynamic/plan.h"
#include "sim/data/dense_operand.h"

/// What tiles hold before a run. Everything named outlives the functions that are returned.
namespace tessera::spmm_dynamic {

struct Given {
  const Problem& problem;
  const PoolShape& pool;
  const std::vector<sparse::BlockMatrix>& patterns;
  const std::vector<Packing>& packings;  ///< by run
};

/// The bucket of cell (x, y, z): its equal part of the pool of its partition, by run.
std::function<void(std::span<std::byte>, std::uint32_t)> bucket(const Given& given, std::uint32_t x,
                                                                std::uint32_t y, std::uint32_t z);

/// 64-bit words `part` of the rows of `operand` that lie in blocks `blocks`, in columns
/// [first_column, first_column + columns of a part).
std::function<void(std::span<std::byte>)> dense_words(const Given& given,
                                                      const data::DenseOperand& operand,
                                                      gemm::Interval blocks,
                                                      std::uint64_t first_column,
                                                      gemm::Interval part);

/// Elements [first, ...) of the rows of `operand`, each as long as all parts of the columns.
std::function<void(std::span<std::byte>)> rows_of(const Given& given,
                                                  const data::DenseOperand& operand,
                                                  std::uint64_t first);

}  // namespace tessera::spmm_dynamic
