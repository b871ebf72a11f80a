#include "kernels/gemm/storage.h"

#include <algorithm>

#include "kernels/stored.h"

namespace tessera::gemm {

Storage::Storage(const Geometry& geometry, Side side, std::uint32_t tiles)
    : EvenStorage(geometry.bytes(side), kStorageGrain, tiles), geometry_(geometry), side_(side) {}

std::size_t Storage::portions() const {
  return std::size_t{geometry_.lines(side_).parts} * geometry_.plan().split_k *
         geometry_.plan().cuts;
}

Storage::Portion Storage::portion(std::size_t number) const {
  const std::size_t cuts = geometry_.plan().cuts;
  const std::size_t parts = geometry_.plan().split_k;
  return {geometry_.lines(side_).part(number / cuts / parts),
          geometry_.depth_blocks(word(number / cuts % parts), word(number % cuts))};
}

/// Byte at which a portion begins: after all portions of earlier lines, and earlier ones of its own
/// lines.
std::uint64_t Storage::begin_of(std::size_t number) const {
  if (number == portions()) return bytes();
  const auto [lines, depth] = portion(number);
  return (lines.begin * geometry_.depth_blocks() + lines.size() * depth.begin) *
         geometry_.line_bytes(side_);
}

/// Number of the portion that contains `byte`.
std::size_t Storage::portion_at(std::uint64_t byte) const {
  std::size_t low = 0;
  std::size_t high = portions();
  while (low + 1 < high) {
    const std::size_t middle = low + (high - low) / 2;
    (begin_of(middle) <= byte ? low : high) = middle;
  }
  return low;
}

std::vector<Storage::Piece> Storage::pieces(const Cell& cell, std::uint32_t cut) const {
  const Plan& plan = geometry_.plan();
  const std::size_t part = Geometry::part(side_, cell);
  const std::size_t number = (part * plan.split_k + cell.depth) * plan.cuts + cut;
  std::vector<Piece> all;
  for (const Piece& piece : EvenStorage::pieces(begin_of(number), begin_of(number + 1)))
    all.push_back(piece);
  return all;
}

std::uint64_t Storage::bytes_on(std::uint32_t tile, std::uint32_t cut) const {
  const std::uint64_t begin = this->begin(tile);
  const std::uint64_t end = begin + bytes_on(tile);
  const std::uint32_t cuts = geometry_.plan().cuts;
  std::uint64_t bytes = 0;
  const std::size_t first = begin < end ? portion_at(begin) : portions();
  for (std::size_t p = first / cuts * cuts + cut; p < portions() && begin_of(p) < end; p += cuts)
    if (p >= first) bytes += std::min(begin_of(p + 1), end) - std::max(begin_of(p), begin);
  return bytes;
}

/// Writes vector `number` of a portion: the inputs of one activation row (X) or one input's weights
/// (W).
void Storage::fill_vector(const Portion& portion, std::uint64_t number, const Operand& a,
                          const Operand& b, Origin origin, std::span<std::byte> into) const {
  const BlockShape& block = geometry_.block();
  const auto& [lines, depth] = portion;
  const auto put = [&](std::uint32_t i, std::uint64_t line, std::uint64_t input) {
    data::store_element(block.input, into, i,
                        geometry_.is_a(side_) ? a.element(line, input) : b.element(input, line));
  };
  if (side_ == Side::x) {
    const std::uint64_t row = origin.line + lines.begin + number % lines.size();
    const std::uint64_t first = origin.depth + (depth.begin + number / lines.size()) * block.depth;
    for (std::uint32_t i = 0; i < block.depth; ++i) put(i, row, first + i);
    return;
  }
  const std::uint64_t index = number / block.depth;
  const std::uint64_t input =
      origin.depth + (depth.begin + index % depth.size()) * block.depth + number % block.depth;
  const std::uint64_t first = origin.line + (lines.begin + index / depth.size()) * block.columns;
  for (std::uint32_t j = 0; j < block.columns; ++j) put(j, first + j, input);
}

void Storage::fill(std::uint64_t begin, const Operand& a, const Operand& b, Origin origin,
                   std::span<std::byte> into) const {
  const BlockShape& block = geometry_.block();
  const std::uint64_t vector = side_ == Side::x ? block.x_bytes() : block.result_bytes();
  kernels::fill_units(
      begin, into, vector,
      [&, number = portion_at(begin)](std::uint64_t unit, std::span<std::byte> whole) mutable {
        while (begin_of(number + 1) <= unit * vector) ++number;
        fill_vector(portion(number), unit - begin_of(number) / vector, a, b, origin, whole);
      });
}

void add_blocks(const Geometry& geometry, std::uint32_t tile, const YPart& part,
                program::Runs& runs) {
  const BlockShape& block = geometry.block();
  const Roles& its = part.whole;
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
    if (geometry.turned())
      runs.add({at - first, column * its.rows + row, held, its.rows});
    else
      runs.add({at - first, row * its.columns + column, held, 1});
  }
}

plan::TensorOver tensor_of(program::Tensor matrix, const RowMajor& stored, BufferId array) {
  const auto runs_of = [stored, size = data::element_bytes(matrix.type), rows = matrix.shape[0],
                        columns = matrix.shape[1]](std::uint32_t tile, program::Runs& runs) {
    stored.for_rows(tile, [&](std::uint64_t row, Interval held, std::uint32_t at) {
      const std::uint64_t column = held.begin / size;
      const std::uint64_t end = std::min(held.end / size, columns);
      if (row < rows && column < end)
        runs.add({at / size, row * columns + column, end - column, 1});
    });
  };
  return {std::move(matrix), array, runs_of,
          [stored](std::uint32_t tile) -> std::uint64_t { return stored.bytes_on(tile); }};
}

program::Tensor tensor_of_blocks(const Geometry& geometry) {
  std::vector<std::uint64_t> shape{geometry.roles().rows, geometry.roles().columns};
  if (geometry.turned()) std::swap(shape[0], shape[1]);
  return {"C", program::Role::result, geometry.block().input, std::move(shape)};
}

}  // namespace tessera::gemm
