#include "kernels/sparse/tensors.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::sparse {

namespace {

template <class Number>
program::Tensor words(std::string name, const BlockTensors& tensors,
                      const std::vector<Number>& values) {
  program::Tensor tensor{std::move(name), tensors.role, Type::u32, {values.size()}};
  tensor.run = tensors.run;
  tensor.given = [&values](std::uint64_t first, std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / sizeof(std::uint32_t); ++i) {
      const std::uint32_t value = word(values[first + i]);
      std::memcpy(&into[i * sizeof value], &value, sizeof value);
    }
  };
  return tensor;
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
  description.tensor(words(tensors.name + ".indices", tensors, matrix.column));
  description.tensor(words(tensors.name + ".indptr", tensors, matrix.row_begin));
}

void add_given(plan::Description& description, const BlockTensors& tensors,
               const BlockMatrix& matrix) {
  program::Tensor data{tensors.name + ".data",
                       tensors.role,
                       tensors.type,
                       {matrix.blocks(), matrix.block, matrix.block}};
  data.run = tensors.run;
  data.given = [&matrix, type = tensors.type](std::uint64_t first, std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i)
      data::store_element(type, into, i, static_cast<double>(matrix.value[first + i]));
  };
  description.tensor(std::move(data));
  add_pattern(description, tensors, matrix);
}

}  // namespace tessera::sparse
