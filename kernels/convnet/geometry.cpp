#include "kernels/convnet/geometry.h"

namespace tessera::convnet {

ColumnGeometry::ColumnGeometry(const Layer& layer, const Split& split,
                               std::uint32_t column_multiple, std::uint32_t column)
    : outputs_(part_of(layer.output.width, split.output, column)),
      multiple_(layer.op == Operator::convolution ? column_multiple : 1),
      stride_(layer.window.stride_width),
      remainders_(multiple_ > 1 ? stride_ : std::min(stride_, layer.window.width)),
      pitch_(0) {
  if (outputs_.size() == 0) return;
  const std::uint32_t count = (outputs_.size() - 1) * stride_ + layer.window.width;
  pitch_ = ((computed() - 1) * stride_ + layer.window.width + stride_ - 1) / stride_;
  const std::uint32_t padded = round_up(count, multiple_);
  pitch_ = std::max(pitch_, (padded + stride_ - 1) / stride_);
  const Range own = part_of(layer.input.width, split.input, column);
  for (std::uint32_t i = 0; i < count; ++i) {
    // Column of the tensor, counted from its left padding.
    const std::uint32_t from_left = outputs_.begin * stride_ + i;
    const bool inside =
        from_left >= layer.window.left && from_left < layer.window.left + layer.input.width;
    const std::uint32_t at = inside ? from_left - layer.window.left : 0;
    const Piece::From from = !inside                           ? Piece::From::zeros
                             : at >= own.begin && at < own.end ? Piece::From::own
                                                               : Piece::From::halo;
    if (pieces_.empty() || pieces_.back().from != from) pieces_.push_back({from, i, 0, at});
    ++pieces_.back().count;
  }
  if (padded == count) return;
  if (pieces_.back().from != Piece::From::zeros)
    pieces_.push_back({Piece::From::zeros, count, 0, 0});
  pieces_.back().count += padded - count;
}

std::uint32_t ColumnGeometry::halo_columns() const {
  std::uint32_t columns = 0;
  for (const Piece& piece : pieces_)
    if (piece.from == Piece::From::halo) columns += piece.count;
  return columns;
}

Piece ColumnGeometry::inside() const {
  Piece all{Piece::From::own, 0, 0, 0};
  for (const Piece& piece : pieces_) {
    if (piece.from == Piece::From::zeros) continue;
    if (all.count == 0) all = {Piece::From::own, piece.begin, 0, piece.source_column};
    all.count += piece.count;
  }
  return all;
}

RowTile row_tile(const Layer& layer, Range rows) {
  RowTile tile{};
  tile.first = rows.begin;
  tile.count = rows.size();
  tile.input_step = layer.window.stride_height / row_stride(layer);
  if (layer.window.height == 1) {
    tile.input_first = tile.first * tile.input_step;
    tile.input_count = tile.count;
    return tile;
  }
  const std::uint32_t begin = tile.first * layer.window.stride_height;  // in the padded input
  const std::uint32_t end = begin + rows_needed(layer, tile.count);
  const std::uint32_t top = layer.window.top;
  const std::uint32_t bottom = top + layer.input.height;
  tile.input_first = std::clamp(begin, top, bottom) - top;
  tile.input_count = std::clamp(end, top, bottom) - top - tile.input_first;
  tile.zeros_before = std::min(end, top) - std::min(begin, top);
  tile.zeros_after = std::max(end, bottom) - std::max(begin, bottom);
  return tile;
}

Array array_of(const MachineConfig& machine) {
  constexpr const char* kStreams[] = {kActivations, kWeights,     kResults, kHalo,
                                      kLoad,        kLoadWeights, kStore};
  return arrays::array_of(machine, kStreams, "convnet");
}

}  // namespace tessera::convnet
