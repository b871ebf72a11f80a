#include "kernels/sparse/tensors.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::sparse {

namespace {

/// Part of a matrix in blocks, whose values the host gives.
template <class Number>
void add_part(plan::Description& description, const BlockTensors& of, const char* part, Type type,
              std::vector<std::uint64_t> shape, const std::vector<Number>& values) {
  program::Tensor tensor{of.name + part, of.role, type, std::move(shape)};
  tensor.run = of.run;
  tensor.given = data::elements_by(type, [&values](std::uint64_t i) { return values[i]; });
  description.tensor(std::move(tensor));
}

}  // namespace

void add_chunks(const Chunked& part, const ChunkedMatrix& matrix, program::Runs& runs) {
  const std::uint64_t rows = std::min(part.rows.end, matrix.rows);
  for (std::uint64_t at = part.elements.begin, next = 0; at < part.elements.end; at = next) {
    const auto [in_chunks, in_columns] = part.element(at);
    const std::uint64_t row = part.rows.begin + in_chunks;
    const std::uint64_t column = part.column + in_columns;
    const bool by_rows = part.depth == 1;
    const std::uint64_t left = by_rows ? part.columns - in_columns : part.depth - at % part.depth;
    next = std::min(part.elements.end, at + left);
    if (row >= rows || column >= matrix.columns) continue;
    const std::uint64_t held = std::min(next - at, by_rows ? matrix.columns - column : rows - row);
    runs.add({at - part.elements.begin, row * matrix.columns + column, held,
              by_rows ? 1 : matrix.columns});
  }
}

program::Tensor tensor_of(const ChunkedMatrix& matrix, std::vector<program::TensorPart> parts,
                          std::function<Chunked(std::size_t part)> chunks) {
  program::Tensor tensor{matrix.name, matrix.role, matrix.type, {matrix.rows, matrix.columns}};
  tensor.parts = std::move(parts);
  tensor.runs = [matrix, chunks = std::move(chunks)](std::size_t part, program::Runs& runs) {
    add_chunks(chunks(part), matrix, runs);
  };
  return tensor;
}

void add_pattern(plan::Description& description, const BlockTensors& tensors,
                 const BlockMatrix& matrix) {
  add_part(description, tensors, ".indices", Type::u32, {matrix.column.size()}, matrix.column);
  add_part(description, tensors, ".indptr", Type::u32, {matrix.row_begin.size()}, matrix.row_begin);
}

void add_given(plan::Description& description, const BlockTensors& tensors,
               const BlockMatrix& matrix) {
  add_part(description, tensors, ".data", tensors.type,
           {matrix.blocks(), matrix.block, matrix.block}, matrix.value);
  add_pattern(description, tensors, matrix);
}

}  // namespace tessera::sparse
