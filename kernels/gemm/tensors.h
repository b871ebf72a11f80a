#pragma once

#include <string>

#include "kernels/gemm/panels.h"
#include "sim/plan/description.h"
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
/// In an array of a description.
plan::TensorOver tensor_of(const ByRows& matrix, const RowMajor& stored, program::BufferId array);

/// C[m, n] as a plan of layout blocked leaves it, without its places.
program::Tensor tensor_of_blocks(const Geometry& geometry);
/// Its numbers on a tile of the geometry, which computes the part of Y from `first` on.
struct YPart {
  Roles whole;
  Geometry::YPlace first = {};
};
void add_blocks(const Geometry& geometry, std::uint32_t tile, const YPart& part,
                program::Runs& runs);

}  // namespace tessera::gemm
