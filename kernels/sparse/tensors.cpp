#include "kernels/sparse/tensors.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::sparse {

namespace {

/// Declares part of a block matrix, with values given by the host.
template <class Number>
void add_part(plan::Description& description, program::Tensor tensor, const char* part, Type type,
              std::vector<std::uint64_t> shape, const std::vector<Number>& values) {
  tensor.name += part;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.given = data::elements_by(type, [&values](std::uint64_t i) { return values[i]; });
  description.tensor(std::move(tensor));
}

void add_chunks(const Chunked& part, std::uint64_t all_rows, std::uint64_t columns,
                program::Runs& runs) {
  const std::uint64_t rows = std::min(part.rows.end, all_rows);
  for (std::uint64_t at = part.elements.begin, next = 0; at < part.elements.end; at = next) {
    const auto [in_chunks, in_columns] = part.element(at);
    const std::uint64_t row = part.rows.begin + in_chunks;
    const std::uint64_t column = part.column + in_columns;
    const bool by_rows = part.depth == 1;
    const std::uint64_t left = by_rows ? part.columns - in_columns : part.depth - at % part.depth;
    next = std::min(part.elements.end, at + left);
    if (row >= rows || column >= columns) continue;
    const std::uint64_t held = std::min(next - at, by_rows ? columns - column : rows - row);
    runs.add({at - part.elements.begin, row * columns + column, held, by_rows ? 1 : columns});
  }
}

}  // namespace

void fill_chunks(Type type, const data::DenseOperand& operand, const Chunked& part,
                 std::uint64_t first, std::span<std::byte> into) {
  for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i) {
    const Chunked::Element at = part.element(first + i);
    const std::uint64_t row = part.rows.begin + at.row;
    const double value = row < part.rows.end ? operand.element(row, part.column + at.column) : 0.0;
    data::store_element(type, into, i, value);
  }
}

std::function<void(std::size_t part, program::Runs& runs)> runs_of(
    std::uint64_t rows, std::uint64_t columns, std::function<Chunked(std::size_t part)> chunks) {
  return [rows, columns, chunks = std::move(chunks)](std::size_t part, program::Runs& runs) {
    add_chunks(chunks(part), rows, columns, runs);
  };
}

void add_pattern(plan::Description& description, const program::Tensor& like,
                 const BlockMatrix& matrix) {
  add_part(description, like, ".indices", Type::u32, {matrix.column.size()}, matrix.column);
  add_part(description, like, ".indptr", Type::u32, {matrix.row_begin.size()}, matrix.row_begin);
}

void add_given(plan::Description& description, const program::Tensor& like,
               const BlockMatrix& matrix) {
  add_part(description, like, ".data", like.type, {matrix.blocks(), matrix.block, matrix.block},
           matrix.value);
  add_pattern(description, like, matrix);
}

}  // namespace tessera::sparse
