#include "kernels/butterfly/storage.h"

#include <algorithm>

#include "kernels/butterfly/twiddles.h"

namespace tessera::butterfly {

using program::BufferId;
using program::Role;
using program::Tensor;

namespace {

/// Least bytes of a stretch of twiddles. Many tiles receive all of them: shorter stretches would
/// mean more copies for the same bytes.
constexpr std::uint64_t kLeastTwiddles = 256;

/// The tensor Y or Xg[features, n].
Tensor result_of(const Problem& p) {
  Tensor tensor{p.pass == Pass::forward ? "Y" : "Xg",
                p.pass == Pass::forward ? Role::result : Role::gradient,
                p.type(),
                {p.features, p.n},
                p.is_complex()};
  if (p.is_complex()) tensor.shape.push_back(2);
  return tensor;
}

/// A callback for for_line(): adds a number by feature and operand column (two per complex number).
auto taker(const Problem& p, program::Runs& runs) {
  return [&runs, width = std::uint64_t{p.n} * (p.is_complex() ? 2 : 1)](
             std::uint64_t feature, std::uint64_t column, std::size_t at) {
    runs.add(at, feature * width + column);
  };
}

/// Adds the runs of a tile's block gradients, without padding.
void block_runs(const GradientLayout& layout, const Problem& p, std::uint32_t tile,
                program::Runs& runs) {
  const std::uint32_t outputs = p.outer.columns;
  const std::uint32_t side = 2 * p.padded();
  std::uint64_t at = 0;
  layout.for_pieces(tile, [&](std::uint32_t stage, std::uint32_t pair, std::uint32_t piece) {
    const std::uint32_t from = piece % side;
    const std::uint32_t to = piece / side * outputs;
    const std::uint32_t row = to % p.padded();
    const std::uint32_t column = from % p.padded();
    if (row < p.block && column < p.block) {
      const std::uint64_t quarter = std::uint64_t{to / p.padded()} * 2 + from / p.padded();
      const std::uint64_t first = (std::uint64_t{stage} * p.pairs() + pair) * 4 + quarter;
      runs.add({at, (first * p.block + row) * p.block + column, std::min(outputs, p.block - row),
                p.block});
    }
    at += outputs;
  });
}

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

plan::TensorOver result_in_rows(const Geometry& geometry, const Rows& rows, BufferId array) {
  return {result_of(geometry.problem), array,
          [geometry, rows](Tile tile, program::Runs& runs) {
            geometry.for_values(tile, rows, taker(geometry.problem, runs));
          },
          [geometry](Tile tile) { return geometry.bytes(tile); }};
}

plan::TensorOver result_in_store(const Geometry& round, const StoredRows& stored, BufferId array) {
  const std::uint32_t size = data::element_bytes(round.problem.type());
  return {result_of(round.problem), array,
          [problem = round.problem, stored, size](Tile tile, program::Runs& runs) {
            stored.for_numbers(stored.storage().begin(tile), stored.storage().bytes_on(tile) / size,
                               taker(problem, runs));
          },
          [stored](Tile tile) -> std::uint64_t { return stored.storage().bytes_on(tile); }};
}

plan::TensorOver gradient_in_shares(const Geometry& geometry, BufferId array) {
  const Problem& p = geometry.problem;
  const GradientLayout layout(geometry);
  const std::uint32_t numbers = p.twiddle_parameters();
  const std::uint32_t numbers_of_pair = p.blocked() ? layout.pair_bytes() / 4 : numbers;
  return {
      Tensor{"twiddles_g", Role::gradient, program::Type::f32, twiddle_shape(p), p.complex_code()},
      array,
      [layout, p, numbers](Tile tile, program::Runs& runs) {
        if (p.blocked()) return block_runs(layout, p, tile, runs);
        std::uint64_t at = 0;
        layout.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
          const std::uint64_t first = (std::uint64_t{stage} * p.pairs() + pair) * numbers;
          runs.add({at, first, numbers, 1});
          at += numbers;
        });
      },
      [layout, bytes = 4 * std::uint64_t{numbers_of_pair}](Tile tile) {
        return layout.share(tile).size() * bytes / layout.pair_bytes();
      }};
}

}  // namespace tessera::butterfly
