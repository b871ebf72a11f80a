#include "kernels/gemm/storage.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::gemm {

Storage::Storage(const Geometry& geometry, Role role, std::uint32_t tiles)
    : geometry_(geometry), role_(role) {
  const std::uint32_t parts = role == Role::x ? geometry.row_parts() : geometry.column_parts();
  std::uint64_t end = 0;
  for (std::uint32_t part = 0; part < parts; ++part) {
    for (std::uint32_t depth = 0; depth < geometry.plan().split_k; ++depth) {
      for (std::uint32_t cut = 0; cut < geometry.plan().cuts; ++cut) {
        const Cell cell{part, part, depth};
        begin_.push_back(end);
        end += role == Role::x ? geometry.x_bytes(cell, cut) : geometry.w_bytes(cell, cut);
      }
    }
  }
  begin_.push_back(end);
  stored_ = stored_bytes(end, tiles);
}

std::size_t Storage::portion(const Cell& cell, std::uint32_t cut) const {
  const std::size_t part = role_ == Role::x ? cell.row : cell.column;
  return (part * geometry_.plan().split_k + cell.depth) * geometry_.plan().cuts + cut;
}

std::vector<Storage::Piece> Storage::pieces(const Cell& cell, std::uint32_t cut) const {
  const std::size_t number = portion(cell, cut);
  const std::uint64_t begin = begin_[number];
  const std::uint64_t end = begin_[number + 1];
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
  const std::uint64_t begin = std::min(tile * stored_, begin_.back());
  return word(std::min(begin + stored_, begin_.back()) - begin);
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
  auto next = std::upper_bound(begin_.begin(), begin_.end(), begin);
  for (std::uint64_t at = begin; at < end;) {
    while (*next <= at) ++next;
    const auto number = static_cast<std::size_t>(next - begin_.begin()) - 1;
    const std::uint64_t skipped = (at - begin_[number]) % vector;
    const std::uint64_t bytes = std::min(vector - skipped, end - at);
    fill_vector(number, (at - begin_[number]) / vector, a, b, origin, whole);
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(skipped), bytes,
                into.begin() + static_cast<std::ptrdiff_t>(at - begin));
    at += bytes;
  }
}

}  // namespace tessera::gemm
