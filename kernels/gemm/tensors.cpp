#include "kernels/gemm/tensors.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::gemm {

void add_blocks(const Geometry& geometry, std::uint32_t tile, const YPart& part,
                program::Runs& runs) {
  const BlockShape& block = geometry.block();
  const Roles& its = part.whole;
  const bool turned = geometry.plan().stationary == Stationary::a;
  const Cell cell = geometry.cell(tile);
  const std::uint64_t first = geometry.y_share(cell).begin / block.partial_bytes;
  const std::uint64_t end = first + geometry.result_bytes(cell) / block.input_bytes;
  for (std::uint64_t at = first, next = 0; at < end; at = next) {
    next = std::min(end, (at / block.columns + 1) * block.columns);
    const Geometry::YPlace within = geometry.y_place(cell, at);
    const std::uint64_t row = part.first.row + within.row;
    const std::uint64_t column = part.first.column + within.column;
    if (row >= its.rows || column >= its.columns) continue;
    const std::uint64_t held = std::min(next - at, its.columns - column);
    if (turned)
      runs.add({at - first, column * its.rows + row, held, its.rows});
    else
      runs.add({at - first, row * its.columns + column, held, 1});
  }
}

namespace {

/// The numbers that elements [begin, end) of padded rows hold.
void add_rows(const ByRows& matrix, std::uint64_t pitch, kernels::Interval held,
              program::Runs& runs) {
  const std::uint64_t end = std::min(held.end, matrix.rows * pitch);
  for (std::uint64_t at = held.begin, next = 0; at < end; at = next) {
    next = std::min(end, (at / pitch + 1) * pitch);
    const std::uint64_t column = at % pitch;
    if (column >= matrix.columns) continue;
    const std::uint64_t count = std::min(next - at, matrix.columns - column);
    runs.add({at - held.begin, at / pitch * matrix.columns + column, count, 1});
  }
}

}  // namespace

plan::TensorOver tensor_of(const ByRows& matrix, const RowMajor& stored, program::BufferId array) {
  const std::uint32_t size = data::element_bytes(matrix.type);
  return {{matrix.name, matrix.role, matrix.type, {matrix.rows, matrix.columns}},
          array,
          [matrix, stored, size](std::uint32_t tile, program::Runs& runs) {
            const std::uint64_t first = stored.begin(tile) / size;
            add_rows(matrix, stored.pitch() / size, {first, first + stored.bytes_on(tile) / size},
                     runs);
          },
          [stored](std::uint32_t tile) -> std::uint64_t { return stored.bytes_on(tile); }};
}

program::Tensor tensor_of_blocks(const Geometry& geometry) {
  const Roles& its = geometry.roles();
  const bool turned = geometry.plan().stationary == Stationary::a;
  return {"C", program::Role::result, geometry.block().input,
          turned ? std::vector<std::uint64_t>{its.columns, its.rows}
                 : std::vector<std::uint64_t>{its.rows, its.columns}};
}

}  // namespace tessera::gemm
