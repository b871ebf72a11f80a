#include "kernels/spmm_static/partition.h"

#include <algorithm>

namespace tessera::spmm_static {

std::vector<std::uint32_t> blocks_by_column(const sparse::BlockMatrix& w) {
  std::vector<std::uint32_t> count(w.block_columns(), 0);
  for (const std::uint32_t column : w.column) ++count[column];
  return count;
}

Bands cut_bands(const std::vector<std::uint32_t>& by_column, std::uint32_t wanted) {
  std::uint64_t total = 0;
  for (const std::uint32_t count : by_column) total += count;
  const std::uint64_t part = ceil_div<std::uint64_t>(total, wanted);
  Bands bands{{0}, {}};
  std::uint32_t column = 0;
  for (std::uint32_t band = 0; band < wanted; ++band) {
    std::uint64_t count = 0;
    while (count < part && column < by_column.size()) count += by_column[column++];
    if (count == 0) break;
    bands.column.push_back(column);
    bands.blocks.push_back(count);
  }
  return bands;
}

namespace {

/// `even_rows`: values of each row of a band begin at an even element (pairs of f16 are loaded at
/// once).
Distribution deal_blocks(const sparse::BlockMatrix& w, Bands bands, bool even_rows) {
  Distribution deal;
  const std::uint64_t area = std::uint64_t{w.block} * w.block;
  deal.filled = sparse::filled_rows(w);
  const std::vector<std::uint32_t>& rows = deal.filled;
  std::vector<std::uint64_t> next;  // next block of each row
  next.reserve(rows.size());
  for (const std::uint32_t row : rows) next.push_back(w.row_begin[row]);
  std::uint64_t values = 0;
  deal.band_begin.push_back(0);
  for (std::uint32_t band = 0; band < bands.count(); ++band) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::uint64_t& e = next[i]; e < w.row_begin[rows[i] + 1]; ++e) {
        if (w.column[e] >= bands.column[band + 1]) break;
        deal.row.push_back(rows[i]);
        deal.column.push_back(w.column[e]);
        deal.source.push_back(e);
        deal.value_begin.push_back(values);
        values += area;
      }
      if (even_rows) values += values % 2;
    }
    deal.band_begin.push_back(deal.row.size());
  }
  deal.value_begin.push_back(values);
  deal.bands = std::move(bands);
  return deal;
}

/// Pairs of tiles for an interval of `width` columns, as published: its proportional share less
/// one, or an equal share if that is more.
std::uint32_t published_pairs(std::uint32_t pairs, std::uint32_t width, std::uint32_t columns,
                              std::uint32_t parts) {
  const auto share = static_cast<std::uint32_t>(
      ceil_div(std::uint64_t{pairs} * width, std::uint64_t{columns} + 1));
  return std::max(share - 1, ceil_div(pairs, parts));
}

/// Tile code's work for a row of `blocks` blocks in one pass of an interval of `columns` columns.
std::uint64_t row_work(const Partition& partition, std::uint32_t columns, std::uint64_t blocks) {
  if (!partition.work) return blocks;
  return partition.work->of(std::min(columns * partition.shape.bytes() / 8, 2U)).row[blocks].full;
}

}  // namespace

void fill_values(const Distribution& deal, const sparse::BlockMatrix& w, const sparse::Shape& shape,
                 std::uint64_t first, std::span<std::byte> into) {
  const std::uint64_t area = std::uint64_t{shape.block} * shape.block;
  const std::uint64_t end = first + into.size() / shape.bytes();
  const auto after = std::upper_bound(deal.value_begin.begin(), deal.value_begin.end() - 1, first);
  auto e = static_cast<std::uint64_t>(after - deal.value_begin.begin());
  for (e -= e > 0 ? 1 : 0; e < deal.blocks() && deal.value_begin[e] < end; ++e) {
    const std::span<const float> values = w.values(deal.source[e]);
    for (std::uint64_t v = 0; v < area; ++v) {
      const std::uint64_t at = deal.value_begin[e] + v;
      if (at < first || at >= end) continue;
      data::store_element(shape.type, into, at - first,
                          static_cast<double>(values[shape.place_in_block(v)]));
    }
  }
}

EvenStorage rows_on_tiles(const Shape& shape, std::uint64_t rows, std::uint32_t columns,
                          std::uint32_t tiles) {
  // Consecutive elements that stay on one tile.
  const std::uint64_t lanes = shape.lanes();
  std::uint64_t grain = shape.block == 1 ? lanes : lanes * (shape.natural() ? shape.block : lanes);
  if (shape.output_runs() > 1) grain = std::max<std::uint64_t>(grain, shape.block);
  return {rows * columns * shape.bytes(), grain * shape.bytes(), tiles};
}

std::uint64_t Partition::block_bytes(const Part& part) const {
  return std::uint64_t{shape.block} * part.width() * shape.bytes();
}

std::uint64_t Partition::x_bytes(const Part& part, const Share& share) const {
  return share.columns.size() * block_bytes(part);
}

std::uint64_t Partition::place(const Part& part, const Share& share, std::uint64_t e) const {
  const auto found = std::ranges::lower_bound(share.columns, deal.column[e]);
  return static_cast<std::uint64_t>(found - share.columns.begin()) * block_bytes(part) / 8;
}

std::uint64_t Partition::value_bytes(const Share& share) const {
  return (deal.value_begin[share.last] - deal.value_begin[share.first]) * shape.bytes();
}

std::uint64_t Partition::row_bytes(const Part& part) const {
  return std::uint64_t{shape.block} * part.width() * shape.partial_bytes();
}

std::vector<Part> cut_columns(std::uint32_t columns, std::uint32_t wanted, std::uint32_t grain,
                              std::uint32_t tiles, Dealing dealing) {
  const std::uint32_t pair = tile_grain(tiles);
  const std::uint32_t pairs = tiles / pair;
  const std::uint32_t grains = columns / grain;
  const std::uint32_t each = ceil_div(grains, wanted);
  std::vector<Part> parts;
  std::uint32_t tile = 0;
  for (std::uint32_t begin = 0; begin < grains; begin += each) {
    const std::uint32_t end = std::min(begin + each, grains);
    auto end_tile = static_cast<std::uint32_t>(std::uint64_t{pairs} * end / grains) * pair;
    if (dealing == Dealing::blocks && end < grains) {
      const std::uint32_t own =
          published_pairs(pairs, (end - begin) * grain, columns, ceil_div(grains, each));
      end_tile = std::min(tile + own * pair, pairs * pair);
    }
    if (end_tile == tile) return {};
    parts.push_back({begin * grain, end * grain, tile, end_tile - tile});
    tile = end_tile;
  }
  return parts;
}

Partition make_partition(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
                         std::uint32_t tiles, const Cuts& cuts,
                         std::shared_ptr<const ElementWorks> work, std::vector<DenseRows> x) {
  const bool even_rows = shape.block == 1 && shape.type == Type::f16;
  Partition partition{shape,
                      w.block_rows(),
                      w.block_columns(),
                      round_up(n, shape.lanes()),
                      tiles,
                      cuts,
                      std::move(x),
                      {},
                      {},
                      {},
                      std::move(work)};
  if (partition.x.empty()) {
    const std::uint64_t rows = std::uint64_t{partition.block_columns} * shape.block;
    partition.x.push_back({0, rows_on_tiles(shape, rows, partition.columns, tiles)});
  }
  partition.deal = deal_blocks(w, cut_bands(blocks_by_column(w), cuts.bands), even_rows);
  std::vector<Part> cut =
      cut_columns(partition.columns, cuts.parts, cuts.grain == 0 ? shape.lanes() : cuts.grain,
                  tiles, cuts.dealing);
  for (Part& part : cut) {
    const std::uint32_t wanted = part.layer;
    const auto found = std::find_if(partition.layers.begin(), partition.layers.end(),
                                    [&](const Layer& layer) { return layer.tiles == wanted; });
    part.layer = static_cast<std::uint32_t>(found - partition.layers.begin());
    if (found != partition.layers.end()) continue;
    partition.layers.push_back(make_layer(
        partition.deal, wanted,
        {cuts.dealing, tile_grain(tiles), even_rows,
         [&](std::uint64_t blocks) { return row_work(partition, part.width(), blocks); }}));
    if (partition.layers.back().shares.empty() && partition.deal.blocks() > 0) return partition;
  }
  partition.parts = std::move(cut);
  return partition;
}

}  // namespace tessera::spmm_static
