#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm/relayout.h"
#include "sim/program/tensor.h"

/// Products' matrices as tensors: which element lies where.
namespace tessera::gemm {

/// Of a matrix by rows: `lies` may have longer rows and more of them, with padding.
struct ByRows {
  std::string name;
  program::Role role;
  Type type;
  std::uint64_t rows, columns;
  std::optional<Type> lies_as = {};  ///< what `lies` counts in, where it is of another type
};
program::Tensor tensor_of(const ByRows& matrix, const Rows& lies);

/// C[m, n] as a plan of layout blocked leaves it, by tile of the geometry.
program::Tensor tensor_of_blocks(const Geometry& geometry,
                                 const std::vector<program::BufferId>& results);

}  // namespace tessera::gemm
