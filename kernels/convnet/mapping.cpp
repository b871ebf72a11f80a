#include "kernels/convnet/mapping.h"

#include <algorithm>

#include "kernels/convnet/calls.h"
#include "sim/base/ranges.h"

namespace tessera::convnet {

LayerShape::LayerShape(const Layer& layer, const Array& array, const Split& split,
                       std::uint32_t unpruned)
    : layer_(&layer),
      array_(array),
      split_(split),
      unpruned_(unpruned),
      input_blocks_(planes_of(layer.input.channels, type())),
      output_blocks_(planes_of(layer.output.channels, type())) {
  for (std::uint32_t column = 0; column < array.columns; ++column)
    columns_.emplace_back(layer, split, array.column_multiple, column);
}

Range LayerShape::share(std::uint32_t row) const {
  const std::uint32_t planes = block_planes(type());
  const Range part = part_of(output_blocks_ / planes, core_rows(), row);
  return {part.begin * planes, part.end * planes};
}

Range LayerShape::blocks(std::uint32_t row, std::uint32_t group) const {
  Range own = share(row);
  std::uint32_t begin = own.begin + group * mapping.group;
  if (!is_convolution()) {
    own.end = output_blocks_;
    begin = row < core_rows() ? (group * core_rows() + row) * mapping.group : own.end;
  }
  begin = std::min(begin, own.end);
  return {begin, std::min(begin + mapping.group, own.end)};
}

Range LayerShape::needed_blocks(std::uint32_t group, std::uint32_t part) const {
  if (is_convolution()) {
    if (mapping.order != Order::inputs) return {0, input_blocks_};
    const std::uint32_t each = input_blocks_ / mapping.parts;
    return {part * each, (part + 1) * each};
  }
  const std::uint32_t each = core_rows() * mapping.group;
  return {std::min(group * each, input_blocks_), std::min((group + 1) * each, input_blocks_)};
}

std::uint32_t LayerShape::row_bytes() const {
  std::uint32_t widest = 0;
  for (const ColumnGeometry& column : columns_) widest = std::max(widest, column.row_bytes());
  return tensors() * needed_blocks(0, 0).size() * rows_needed(*layer_, mapping.rows) * widest;
}

std::uint32_t LayerShape::weight_bytes() const {
  if (!has_weights()) return 0;
  if (!is_convolution()) return (taps() + 2) * step_bytes(type());  // the size of shared_weights()
  const std::uint32_t numbers = rounds(mapping.group) * kept_of_part();
  return round_up(numbers_at() + numbers * static_cast<std::uint32_t>(sizeof(std::uint16_t)),
                  kAlign);
}

std::uint32_t LayerShape::bias_at() const {
  return rounds(mapping.group) * kept_of_part() * taps() * step_bytes(type());
}

std::uint32_t LayerShape::numbers_at() const { return bias_at() + mapping.group * kBiasBlockBytes; }

std::uint32_t LayerShape::pieces() const {
  const std::uint32_t bytes = weight_bytes();
  return bytes == 0 ? 1 : ceil_div(bytes, piece(0).size());
}

Range LayerShape::piece(std::uint32_t number) const {
  const std::uint32_t bytes = weight_bytes();
  const std::uint32_t each = round_up(ceil_div(bytes, mapping.pieces), kAlign);
  return {std::min(bytes, number * each), std::min(bytes, (number + 1) * each)};
}

Grid LayerShape::grid(std::uint32_t column, std::uint32_t rows, bool adds) const {
  const ColumnGeometry& geometry = columns_[column];
  const std::uint32_t result_row = geometry.result_pitch() * kPositionBytes;
  const std::uint32_t result_plane = mapping.rows * result_row;
  return {rows,
          geometry.computed(),
          adds ? result_row : row_stride(*layer_) * geometry.row_bytes(),
          result_row,
          1,
          adds ? result_plane : plane_bytes(column),
          result_plane};
}

std::uint32_t LayerShape::partial_bytes() const {
  if (mapping.parts == 1) return 0;
  std::vector<Grid> grids;
  // A tile with fewer rows may need more groups of positions.
  for (std::uint32_t column = 0; column < array_.columns; ++column)
    for (const std::uint32_t rows : {mapping.rows, tile(row_tiles() - 1).count})
      if (columns_[column].outputs() > 0) add_once(grids, grid(column, rows));
  std::uint64_t most = 0;
  for (const Grid& grid : grids)
    most = std::max(most, patch_table(grid, block_planes(type())).partial_bytes(mapping.group));
  return static_cast<std::uint32_t>(most);
}

CoreLayout LayerShape::core_layout() const {
  const auto aligned = [](std::uint32_t bytes) { return round_up(bytes, kAlign); };
  const auto steps = [&](std::uint32_t planes, std::uint32_t taps) {
    return aligned(
        static_cast<std::uint32_t>(Steps{rounds(mapping.group), planes, taps}.distance_bytes()));
  };
  const std::uint32_t weights = weight_bytes();
  return {aligned(row_bytes()),
          weights == 0 ? 0 : aligned(weights + kWeightBytesAhead),  // calls read ahead
          aligned(mapping.group * mapping.rows * columns_[0].result_pitch() * kPositionBytes),
          steps(kept_of_part(), step_taps()),
          aligned(partial_bytes()),
          mapping.adds ? steps(1, 2) : 0,
          mapping.row_buffers,
          mapping.weight_buffers,
          mapping.adds};
}

std::uint64_t LayerShape::products() const {
  constexpr std::uint64_t kPositions = 4;
  if (!is_convolution()) return 0;
  const std::uint64_t positions = std::uint64_t{layer_->output.height} * columns_.front().outputs();
  return positions / kPositions * most_blocks() * kept() * taps();
}

std::uint32_t LayerShape::staged_row_bytes() const {
  std::uint32_t widest = 0;
  for (const ColumnGeometry& column : columns_) widest = std::max(widest, column.inside().count);
  return needed_blocks(0, 0).size() * rows_needed(*layer_, mapping.rows) * widest * kPositionBytes;
}

std::uint32_t LayerShape::staged_result_bytes() const {
  return core_rows() * mapping.group * mapping.rows * columns_[0].sent() * kPositionBytes;
}

StagedBytes LayerShape::beside() const {
  StagedBytes bytes;
  if (ddr.loads)
    bytes.rows = 2 * tensors() * staged_row_bytes();
  else if (layer_->has_window())
    for (const ColumnGeometry& column : columns_)
      bytes.halo = std::max(bytes.halo, column.halo_columns() * kPositionBytes *
                                            layer_->input.height * input_blocks_);
  if (ddr.adds) bytes.operands = 2 * staged_result_bytes();
  if (ddr.stores) bytes.results = 2 * staged_result_bytes();
  return bytes;
}

/// True if all calls of a core use the same weights.
static bool has_lone_weights(const LayerShape& shape) {
  return shape.groups() * shape.mapping.parts == 1 || !shape.is_convolution();
}

ItemCounts counts_of(const LayerShape& shape) {
  const Mapping& mapping = shape.mapping;
  const std::uint64_t ends = std::uint64_t{shape.row_tiles()} * shape.groups();
  const std::uint64_t items = ends * mapping.parts;
  const bool keeps_rows = shape.is_convolution() && mapping.order == Order::rows;
  const bool keeps_weights = mapping.order == Order::weights;
  return {mapping.order == Order::inputs ? items
          : keeps_rows                   ? shape.row_tiles()
                                         : ends,
          has_lone_weights(shape) ? 1
          : keeps_weights         ? shape.groups()
                                  : items,
          ends};
}

std::vector<Item> items_of(const LayerShape& shape) {
  const Mapping& mapping = shape.mapping;
  const std::uint32_t tiles = shape.row_tiles();
  const std::uint32_t groups = shape.groups();
  const bool lone_weights = has_lone_weights(shape);
  const bool own_rows = !shape.is_convolution();  // each group needs its own rows
  const bool weights_outer = mapping.order == Order::weights;
  const bool in_parts = mapping.order == Order::inputs;
  const std::uint32_t outer = weights_outer ? groups : tiles;
  const std::uint32_t inner = weights_outer ? tiles : groups;
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < outer; ++i)
    for (std::uint32_t j = 0; j < inner; ++j)
      for (std::uint32_t part = 0; part < mapping.parts; ++part) {
        const bool last = part + 1 == mapping.parts, keeps_rows = !own_rows && !weights_outer;
        items.push_back({.row_tile = weights_outer ? j : i,
                         .group = weights_outer ? i : j,
                         .part = part,
                         .new_rows = in_parts || (part == 0 && (!keeps_rows || j == 0)),
                         .last_rows = in_parts || (last && (!keeps_rows || j + 1 == inner)),
                         .new_weights = lone_weights ? items.empty() : !weights_outer || j == 0,
                         .last_weights = !lone_weights && (!weights_outer || j + 1 == inner),
                         .ends = last});
      }
  if (lone_weights) items.back().last_weights = true;
  return items;
}

std::vector<HaloPart> halo_of(const LayerShape& shape) {
  std::vector<HaloPart> parts;
  const auto& [owners, columns] = shape.split();
  for (std::uint32_t column = 0; column < columns; ++column) {
    std::uint32_t at = 0;
    for (const Piece& piece : shape.column(column).pieces()) {
      if (piece.from != Piece::From::halo) continue;
      const std::uint32_t end = piece.source_column + piece.count;
      for (std::uint32_t owner = 0; owner < owners; ++owner) {
        const Range slice = part_of(shape.layer().input.width, owners, owner);
        const Range part{std::max(slice.begin, piece.source_column), std::min(slice.end, end)};
        if (owner != column && part.begin < part.end)
          parts.push_back({column, owner, part, at + part.begin - piece.source_column});
      }
      at += piece.count;
    }
  }
  std::ranges::stable_sort(parts, {}, [](const HaloPart& each) {
    return static_cast<std::int64_t>(each.owner) - each.column;
  });
  return parts;
}

}  // namespace tessera::convnet
