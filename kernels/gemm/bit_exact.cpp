#include "kernels/gemm/bit_exact.h"

#include <algorithm>

#include "kernels/check/ordered_sums.h"
#include "sim/data/random.h"

namespace tessera::gemm {

namespace {

kernels::OrderedSums ordered_sums(const BlockShape& block) {
  return {block.partial, block.on_unit() ? block.depth : 1};
}

}  // namespace

Multiplied operands_of(const Finished& product) {
  return {product.rows, product.columns, product.depth,
          [&product](std::uint64_t row, std::vector<float>& /*scratch*/) {
            return std::span(product.x).subspan(row * product.depth, product.depth);
          },
          [&product](Interval columns, std::vector<float>& /*scratch*/) {
            return Multiplied::Columns{&product.w[columns.begin], product.columns};
          }};
}

/// Products with one part of the depth, round by round.
void BitExact::add_part(std::uint32_t part, std::span<const float> x, Multiplied::Columns w,
                        std::span<float> sums) const {
  const BlockShape& block = geometry_.block();
  const Interval blocks = geometry_.depth_blocks(part);
  for (std::uint32_t round = 0; round < grid_.rounds().k; ++round) {
    const std::uint64_t origin = grid_.origin(0, round).k;
    const std::uint64_t first = origin + blocks.begin * block.depth;
    const std::uint64_t end =
        std::min<std::uint64_t>(origin + blocks.end * block.depth, product_.depth);
    if (first >= end) break;
    ordered_sums(block).add_rows(x.subspan(first, end - first), w.first + first * w.step, w.step,
                                 sums);
  }
}

void BitExact::row(std::uint64_t row, Interval columns, std::span<float> y) const {
  const BlockShape& block = geometry_.block();
  const std::uint32_t parts = geometry_.plan().split_k;
  std::vector<float> sums(parts * columns.size());
  std::vector<float> x_scratch;
  std::vector<float> w_scratch;
  const std::span<const float> x = product_.x(row, x_scratch);
  const Multiplied::Columns w = product_.w(columns, w_scratch);
  for (std::uint32_t part = 0; part < parts; ++part)
    add_part(part, x, w, std::span(sums).subspan(part * columns.size(), columns.size()));
  std::vector<float> partials(parts);
  for (std::uint64_t j = 0; j < columns.size(); ++j) {
    for (std::uint32_t part = 0; part < parts; ++part)
      partials[part] = sums[part * columns.size() + j];
    const std::uint64_t own = parts == 1 ? 0 : adder(row, columns.begin + j);
    y[j] = kernels::to_type(block.input, ordered_sums(block).joined(partials, own));
  }
}

/// The part of the depth whose tile adds up an element: its own part comes first there.
std::uint64_t BitExact::adder(std::uint64_t row, std::uint64_t column) const {
  row %= geometry_.roles().rows;
  column %= geometry_.roles().columns;
  const Cell cell = geometry_.cell_of(row, column / geometry_.block().columns);
  return geometry_.adder(cell, geometry_.y_index(cell, {row, column}));
}

std::vector<kernels::Strip> BitExact::chosen(std::uint32_t tile, std::uint64_t seed) const {
  constexpr std::uint64_t kBlockStream = 5;  // of random numbers
  constexpr std::uint64_t kRows = 8;
  const BlockShape& block = geometry_.block();
  const Cell cell = geometry_.cell(tile);
  const Interval share = geometry_.y_share(cell);
  if (share.size() == 0) return {};
  const std::uint64_t elements = share.size() / block.partial_bytes;
  const std::uint64_t index =
      share.begin / block.partial_bytes + data::random_below(seed, kBlockStream, tile, elements);
  // Of one pass.
  const RoundGrid::Origin origin =
      grid_.origin(data::random_below(seed, kBlockStream + 1, tile, grid_.passes()));
  const bool turned = geometry_.plan().stationary == Stationary::a;
  const auto [within_row, within_column] = geometry_.y_place(cell, index);
  const std::uint64_t row = within_row + (turned ? origin.n : origin.m);
  const std::uint64_t first =
      within_column / block.columns * block.columns + (turned ? origin.m : origin.n);
  if (row >= product_.rows || first >= product_.columns) return {};
  const Interval columns{first, std::min<std::uint64_t>(first + block.columns, product_.columns)};
  const std::uint64_t end =
      std::min({row + kRows, row - within_row + geometry_.rows(cell.row).end, product_.rows});
  std::vector<kernels::Strip> strips;
  for (std::uint64_t line = row; line < end; ++line) strips.push_back({line, columns});
  return strips;
}

}  // namespace tessera::gemm
