#pragma once

#include <string>
#include <vector>

#include "kernels/gemm/relayout.h"
#include "sim/program/tensor.h"

/// Products' matrices as tensors: which element lies where.
namespace tessera::gemm {

/// A matrix by rows: it may lie in longer rows and more of them, with padding.
struct ByRows {
  std::string name;
  program::Role role;
  Type type;
  std::uint64_t rows, columns;
};
/// Elements side by side, numbered by rows with their padding.
struct RowPart {
  program::Place place;
  kernels::Interval elements;
};
/// Rows are `pitch` elements apart.
program::Tensor tensor_of(const ByRows& matrix, std::uint64_t pitch, std::vector<RowPart> parts);
program::Tensor tensor_of(const ByRows& matrix, const Rows& lies);

/// C[m, n] as a plan of layout blocked leaves it, by tile of the geometry.
program::Tensor tensor_of_blocks(const Geometry& geometry,
                                 const std::vector<program::BufferId>& results);

}  // namespace tessera::gemm
