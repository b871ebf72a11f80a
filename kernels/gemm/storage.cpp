#include "kernels/gemm/storage.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::gemm {

Storage::Storage(const Geometry& geometry, Role role, std::uint32_t tiles)
    : geometry_(geometry),
      role_(role),
      bytes_(role == Role::x ? geometry.x_bytes() : geometry.w_bytes()),
      stored_(stored_bytes(bytes_, tiles)) {}

std::size_t Storage::portion(const Cell& cell, std::uint32_t cut) const {
  const std::size_t part = role_ == Role::x ? cell.row : cell.column;
  return (part * geometry_.plan().split_k + cell.depth) * geometry_.plan().cuts + cut;
}

std::size_t Storage::portions() const {
  const std::size_t parts = role_ == Role::x ? geometry_.row_parts() : geometry_.column_parts();
  return parts * geometry_.plan().split_k * geometry_.plan().cuts;
}

/// All portions of the lines before, and those of its own lines before.
std::uint64_t Storage::begin_of(std::size_t portion) const {
  if (portion == portions()) return bytes_;
  const Plan& plan = geometry_.plan();
  const BlockShape& block = geometry_.block();
  const auto part = word(portion / plan.cuts / plan.split_k);
  const Interval lines = role_ == Role::x ? geometry_.rows(part) : geometry_.column_blocks(part);
  const Interval depth =
      geometry_.depth_blocks(word(portion / plan.cuts % plan.split_k), word(portion % plan.cuts));
  const std::uint64_t each = role_ == Role::x ? block.x_bytes() : block.w_bytes();
  return (lines.begin * geometry_.depth_blocks() + lines.size() * depth.begin) * each;
}

/// The portion that holds a byte.
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
  const std::size_t number = portion(cell, cut);
  const std::uint64_t begin = begin_of(number);
  const std::uint64_t end = begin_of(number + 1);
  std::vector<Piece> pieces;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t tile = at / stored_;
    const std::uint64_t next = std::min((tile + 1) * stored_, end);
    pieces.push_back({word(tile), word(at - tile * stored_), word(at - begin), word(next - at)});
    at = next;
  }
  return pieces;
}

std::uint32_t Storage::bytes_on(std::uint32_t tile) const {
  const std::uint64_t begin = this->begin(tile);
  return word(std::min(begin + stored_, bytes_) - begin);
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

double Storage::x_value(const Operand& a, const Operand& b, std::uint64_t row,
                        std::uint64_t depth) const {
  return geometry_.plan().stationary == Stationary::b ? a.element(row, depth)
                                                      : b.element(depth, row);
}

double Storage::w_value(const Operand& a, const Operand& b, std::uint64_t depth,
                        std::uint64_t column) const {
  return geometry_.plan().stationary == Stationary::b ? b.element(depth, column)
                                                      : a.element(column, depth);
}

/// Vector `number` of a portion: the inputs of one position (X) or one input's weights (W).
void Storage::fill_vector(std::size_t portion, std::uint64_t number, const Operand& a,
                          const Operand& b, Origin origin, std::span<std::byte> into) const {
  const Plan& plan = geometry_.plan();
  const BlockShape& block = geometry_.block();
  const auto cut = word(portion % plan.cuts);
  const auto depth_part = word(portion / plan.cuts % plan.split_k);
  const auto part = word(portion / plan.cuts / plan.split_k);
  const Interval depth = geometry_.depth_blocks(depth_part, cut);
  if (role_ == Role::x) {
    const Interval rows = geometry_.rows(part);
    const std::uint64_t row = origin.line + rows.begin + number % rows.size();
    const std::uint64_t first = origin.depth + (depth.begin + number / rows.size()) * block.depth;
    for (std::uint32_t i = 0; i < block.depth; ++i) {
      data::store_element(block.input, into, i, x_value(a, b, row, first + i));
    }
    return;
  }
  const std::uint64_t index = number / block.depth;
  const std::uint64_t input =
      origin.depth + (depth.begin + index % depth.size()) * block.depth + number % block.depth;
  const std::uint64_t first =
      origin.line + (geometry_.column_blocks(part).begin + index / depth.size()) * block.columns;
  for (std::uint32_t j = 0; j < block.columns; ++j) {
    data::store_element(block.input, into, j, w_value(a, b, input, first + j));
  }
}

void Storage::fill(std::uint32_t tile, const Operand& a, const Operand& b,
                   std::span<std::byte> into) const {
  fill_from(tile * stored_, a, b, {}, into);
}

void Storage::fill_from(std::uint64_t begin, const Operand& a, const Operand& b, Origin origin,
                        std::span<std::byte> into) const {
  const BlockShape& block = geometry_.block();
  const std::uint64_t vector =
      role_ == Role::x ? block.x_bytes() : std::uint64_t{block.columns} * block.input_bytes;
  const std::uint64_t end = begin + into.size();
  std::vector<std::byte> whole(vector);  // tiles may hold parts of a vector
  if (begin >= end) return;
  std::size_t number = portion_at(begin);
  std::uint64_t first = begin_of(number);
  std::uint64_t next = begin_of(number + 1);
  for (std::uint64_t at = begin; at < end;) {
    for (; next <= at; next = begin_of(number + 1)) {
      ++number;
      first = next;
    }
    const std::uint64_t skipped = (at - first) % vector;
    const std::uint64_t bytes = std::min(vector - skipped, end - at);
    fill_vector(number, (at - first) / vector, a, b, origin, whole);
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(skipped), bytes,
                into.begin() + static_cast<std::ptrdiff_t>(at - begin));
    at += bytes;
  }
}

}  // namespace tessera::gemm
