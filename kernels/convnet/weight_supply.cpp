#include "kernels/convnet/weight_supply.h"

#include <memory>

namespace tessera::convnet {

WeightSupply::WeightSupply(const Plan& plan, const ArrayMemory& memory, program::Program& program,
                           ArrayProgram& lists)
    : plan_(plan), memory_(memory), lists_(lists), chains_(plan.array.rows) {
  const auto contents = std::make_shared<std::vector<WeightTile>>();
  std::uint32_t bytes = 0;
  pieces_.resize(plan.network->layers.size());
  tiles_.resize(pieces_.size());
  for (std::uint32_t layer = 0; layer < pieces_.size(); ++layer)
    if (plan.computes(layer)) bytes = add_tiles(layer, bytes, *contents);
  const auto write = [&plan, contents](std::span<std::byte> into) {
    for (const WeightTile& tile : *contents)
      write_tile(plan, tile, into.subspan(tile.offset, tile.bytes));
  };
  weights_ = program.add_buffer(buffer_of(plan.array.ddr, bytes, "weights", write));
}

/// A layer's tiles from byte `begin` of the buffer on; returns their end. Those of a layer that has
/// the weights of another, cut alike, are that one's.
std::uint32_t WeightSupply::add_tiles(std::uint32_t layer, std::uint32_t begin,
                                      std::vector<WeightTile>& contents) {
  const LayerShape shape = shape_of(plan_, layer);
  if (!shape.has_weights()) return begin;
  const Mapping& mapping = shape.mapping;
  const std::uint32_t each = shape.weight_bytes();
  const std::uint32_t groups = shape.is_convolution() ? shape.groups() : 1;
  const std::vector<Item> items = items_of(shape);
  const std::optional<std::uint32_t> other = plan_.network->layers[layer].weights_of;
  const bool has_others = other && plan_.layers[*other].mapping.group == mapping.group &&
                          plan_.layers[*other].mapping.parts == mapping.parts;
  for (std::uint32_t row = 0; row < plan_.array.rows; ++row) {
    std::vector<Piece>& pieces = chains_[row].pieces;
    const auto first = static_cast<std::uint32_t>(pieces.size());
    tiles_[layer].push_back(has_others ? tiles_[*other][row] : begin);
    for (const Item& item : items) {
      if (!item.new_weights || !shape.has(row, item.group)) continue;
      const std::uint32_t tile =
          tiles_[layer][row] + (item.group * mapping.parts + item.part) * each;
      for (std::uint32_t number = 0; number < shape.pieces(); ++number) {
        const Range piece = shape.piece(number);
        pieces.push_back({layer, tile + piece.begin, piece.size()});
      }
    }
    pieces_[layer].push_back({first, static_cast<std::uint32_t>(pieces.size())});
    if (has_others) continue;
    for (std::uint32_t group = 0; group < groups && shape.has(row, group); ++group) {
      const Range blocks = shape.blocks(row, group);
      for (std::uint32_t part = 0; part < mapping.parts; ++part, begin += each)
        contents.push_back({layer, blocks.begin, blocks.end, part, begin, each});
    }
  }
  return begin;
}

Place WeightSupply::place(std::uint32_t row, std::uint32_t number) const {
  const std::uint32_t slot = row / plan_.array.columns * 2 + number % 2;
  return memory_.in_tile(row % plan_.array.columns, slot * plan_.ring_bytes);
}

void WeightSupply::ask(std::uint32_t row, std::uint32_t now) {
  Chain& chain = chains_[row];
  if (chain.asked == chain.pieces.size()) return;
  const auto [layer, offset, bytes] = chain.pieces[chain.asked];
  if (!plan_.weights_ahead && layer != now) return;
  chain.coming = lists_.transfer(
      kind_of(TransferChain::ddr_weights, row),
      plan_.network->layers[layer].name + " weights from DDR",
      {{kLoadWeights, whole({weights_, offset}, bytes), {whole(place(row, chain.asked), bytes)}}});
  lists_.start_all(chain.coming);
  ++chain.asked;
}

void WeightSupply::wait(std::uint32_t row) { lists_.wait_all(chains_[row].coming); }

}  // namespace tessera::convnet
