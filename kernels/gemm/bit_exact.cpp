#include "kernels/gemm/bit_exact.h"

#include <algorithm>
#include <utility>

#include "kernels/check/ordered_sums.h"
#include "sim/data/random.h"

namespace tessera::gemm {

namespace {

kernels::OrderedSums ordered_sums(const BlockShape& block) {
  return {block.partial, block.on_unit() ? block.depth : 1};
}

}  // namespace

/// Adds the products of one part of the depth, round by round.
void BitExact::add_part(std::uint32_t part, std::span<const float> a, const Panel& b,
                        std::span<float> sums) const {
  const BlockShape& block = geometry_.block();
  const Interval blocks = geometry_.depth_blocks(part);
  for (std::uint32_t round = 0; round < grid_.rounds().k; ++round) {
    const std::uint64_t origin = grid_.origin(0, round).k;
    const std::uint64_t first = origin + blocks.begin * block.depth;
    const std::uint64_t end = std::min<std::uint64_t>(origin + blocks.end * block.depth, size_.k);
    if (first >= end) break;
    ordered_sums(block).add_rows(a.subspan(first, end - first), b.first + first * b.step, b.step,
                                 sums);
  }
}

void BitExact::make_row(std::uint64_t row, std::span<const float> a, Interval columns,
                        const Panel& b, std::span<float> c) const {
  const BlockShape& block = geometry_.block();
  const std::uint32_t parts = geometry_.plan().split_k;
  std::vector<float> sums(parts * columns.size());
  for (std::uint32_t part = 0; part < parts; ++part)
    add_part(part, a, b, std::span(sums).subspan(part * columns.size(), columns.size()));
  std::vector<float> partials(parts);
  for (std::uint64_t j = 0; j < columns.size(); ++j) {
    for (std::uint32_t part = 0; part < parts; ++part)
      partials[part] = sums[part * columns.size() + j];
    const std::uint64_t own = parts == 1 ? 0 : adder(row, columns.begin + j);
    c[j] = kernels::to_type(block.input, ordered_sums(block).joined(partials, own));
  }
}

/// Copies the columns of B first, since their rows are far apart in the host's memory.
void BitExact::compare(const Elements& block, const RowOfA& row_of_a, std::span<const float> c,
                       kernels::Comparison& into) const {
  if (block.rows.size() == 0) return;
  const std::size_t width = block.columns.size();
  std::vector<float> panel(size_.k * width), exact(width), scratch;
  for (std::size_t i = 0; i < size_.k; ++i)
    std::copy_n(&b_[i * size_.n + block.columns.begin], width, &panel[i * width]);
  for (std::uint64_t row = block.rows.begin; row < block.rows.end; ++row) {
    make_row(row, row_of_a(row, scratch), block.columns, {panel.data(), width}, exact);
    for (std::size_t j = 0; j < width; ++j) {
      const std::uint64_t column = block.columns.begin + j;
      into.add_exact(row, column, static_cast<double>(c[row * size_.n + column]),
                     static_cast<double>(exact[j]));
    }
  }
}

/// The part of the depth whose tile reduces an element: it adds its own part first.
std::uint64_t BitExact::adder(std::uint64_t row, std::uint64_t column) const {
  if (geometry_.turned()) std::swap(row, column);
  row %= geometry_.roles().rows;
  column %= geometry_.roles().columns;
  const Cell cell = geometry_.cell_of(row, column / geometry_.block().columns);
  return geometry_.adder(cell, geometry_.y_index(cell, {row, column}));
}

Elements BitExact::chosen(std::uint32_t tile, std::uint64_t seed) const {
  constexpr std::uint64_t kBlockStream = 5;  // random stream
  constexpr std::uint64_t kRows = 8;
  const BlockShape& block = geometry_.block();
  const Cell cell = geometry_.cell(tile);
  const Interval share = geometry_.y_share(cell);
  if (share.size() == 0) return {};
  const std::uint64_t elements = share.size() / block.partial_bytes;
  const std::uint64_t index =
      share.begin / block.partial_bytes + data::random_below(seed, kBlockStream, tile, elements);
  // The origin of a random pass.
  const RoundGrid::Origin origin =
      grid_.origin(data::random_below(seed, kBlockStream + 1, tile, grid_.passes()));
  const Roles all = roles(size_, geometry_.plan().stationary);
  const auto [within_row, within_column] = geometry_.y_place(cell, index);
  const std::uint64_t row = within_row + (geometry_.turned() ? origin.n : origin.m);
  const std::uint64_t column =
      within_column / block.columns * block.columns + (geometry_.turned() ? origin.m : origin.n);
  if (row >= all.rows || column >= all.columns) return {};
  const Interval lines{
      row, std::min<std::uint64_t>(
               {row + kRows, row - within_row + geometry_.rows(cell.row).end, all.rows})};
  const Interval along{column, std::min<std::uint64_t>(column + block.columns, all.columns)};
  return geometry_.turned() ? Elements{along, lines} : Elements{lines, along};
}

}  // namespace tessera::gemm
