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

/// Products with one part of the depth.
void BitExact::add_part(std::uint32_t part, std::uint64_t row, Interval columns,
                        std::span<float> sums) const {
  const BlockShape& block = geometry_.block();
  const Interval blocks = geometry_.depth_blocks(part);
  const std::uint64_t first = blocks.begin * block.depth;
  const std::uint64_t end = std::min<std::uint64_t>(blocks.end * block.depth, product_.depth);
  ordered_sums(block).add_rows(
      std::span(product_.x).subspan(row * product_.depth + first, end - first),
      &product_.w[first * product_.columns + columns.begin], product_.columns, sums);
}

void BitExact::row(std::uint64_t row, Interval columns, std::span<float> y) const {
  const BlockShape& block = geometry_.block();
  const std::uint32_t parts = geometry_.plan().split_k;
  std::vector<float> sums(parts * columns.size());
  for (std::uint32_t part = 0; part < parts; ++part)
    add_part(part, row, columns, std::span(sums).subspan(part * columns.size(), columns.size()));
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
  const auto [row, column] = geometry_.y_place(cell, index);
  const std::uint64_t first = column / block.columns * block.columns;
  const Interval columns{first, std::min<std::uint64_t>(first + block.columns, product_.columns)};
  const std::uint64_t end = std::min(row + kRows, geometry_.rows(cell.row).end);
  std::vector<kernels::Strip> strips;
  for (std::uint64_t line = row; line < end; ++line) strips.push_back({line, columns});
  return strips;
}

}  // namespace tessera::gemm
