#include "kernels/butterfly/storage.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

/// Twiddles come to many tiles, all bytes to each: shorter stretches would make more copies of as
/// many bytes.
constexpr std::uint64_t kLeastTwiddles = 256;

}  // namespace

StoredRows::StoredRows(const Geometry& round, std::uint32_t tiles)
    : geometry_(round),
      units_(round.round_units().size()),
      unit_bytes_(round.problem.unit_bytes() / round.problem.lines()),
      storage_(std::uint64_t{round.problem.blocks()} * round.problem.lines() * units_ * unit_bytes_,
               unit_bytes_, tiles) {}

std::vector<StoredRows::Line> StoredRows::lines_of(std::uint32_t tile, const Rows& rows) const {
  std::vector<Line> lines;
  const Interval mine = geometry_.units(tile);
  const std::uint64_t begin = (mine.begin - geometry_.round_units().begin) * unit_bytes_;
  const std::uint64_t bytes = mine.size() * unit_bytes_;
  for (std::uint32_t row = 0; row < geometry_.rows() && bytes > 0; ++row) {
    const std::uint64_t number = rows.feature(geometry_.feature_part(tile), row);
    for (std::uint32_t i = 0; i < geometry_.problem.lines(); ++i) {
      const std::uint64_t first = (number * geometry_.problem.lines() + i) * pitch() + begin;
      lines.push_back({first, first + bytes, lines.size() * bytes});
    }
  }
  return lines;
}

std::vector<StoredRows::Part> StoredRows::parts_on(std::uint32_t tile, const Rows& rows) const {
  const Plan& plan = geometry_.plan;
  const std::uint64_t lines = geometry_.problem.lines();
  const EvenSplit split{units_, plan.split_n};
  const std::uint64_t first = storage_.begin(tile);
  const std::uint64_t end = first + storage_.bytes_on(tile);
  std::vector<Part> parts;
  for (std::uint64_t at = first; at < end;) {
    const std::uint64_t line = at / pitch();
    const std::uint64_t unit = at % pitch() / unit_bytes_;
    const std::uint64_t column = split.holder(unit);
    const Interval mine = split.part(column);
    const Rows::Holder holder = rows.holder(word(line / lines));
    const std::uint64_t next = std::min(end, line * pitch() + mine.end * unit_bytes_);
    const std::uint64_t before =
        (holder.row * lines + line % lines) * mine.size() + unit - mine.begin;
    parts.push_back({word(column * plan.split_features + holder.tile), before * unit_bytes_,
                     at - first, next - at});
    at = next;
  }
  return parts;
}

void StoredRows::fill(const data::DenseOperand& values, std::uint64_t first,
                      std::span<std::byte> into) const {
  const program::Type type = geometry_.problem.type();
  std::fill(into.begin(), into.end(), std::byte{});
  for_numbers(first, into.size() / data::element_bytes(type),
              [&](std::uint64_t feature, std::uint64_t column, std::size_t at) {
                data::store_element(type, into, at, values.element(feature, column));
              });
}

StoredTwiddles::StoredTwiddles(const Geometry& geometry, const RowPass& pass, std::uint64_t bytes,
                               std::uint32_t tiles)
    : groups(pass.groups()),
      group_bytes(bytes / groups),
      part_bytes(bytes),
      storage(bytes * geometry.plan.split_features,
              ceil_div(kLeastTwiddles, group_bytes) * group_bytes, tiles) {}

void StoredTwiddles::fill(
    const std::function<void(std::uint32_t, Interval, std::span<std::byte>)>& write,
    std::uint64_t first, std::span<std::byte> into) const {
  std::uint64_t group = first / group_bytes;
  while (!into.empty()) {
    const std::uint64_t begin = group % groups;
    const std::uint64_t count = std::min<std::uint64_t>(into.size() / group_bytes, groups - begin);
    write(word(group / groups), {begin, begin + count}, into.first(count * group_bytes));
    into = into.subspan(count * group_bytes);
    group += count;
  }
}

}  // namespace tessera::butterfly
