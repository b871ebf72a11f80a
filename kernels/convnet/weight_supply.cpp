#include "kernels/convnet/weight_supply.h"

#include <cstring>
#include <memory>

#include "kernels/convnet/calls.h"

namespace tessera::convnet {
namespace {

/// The input block of stored weight block `kept` of an output block.
std::uint32_t input_block(const LayerShape& shape, const LayerWeights& weights,
                          std::uint32_t output, std::uint32_t kept) {
  if (shape.mapping.zeros) return kept;
  const VectorType& type = shape.type();
  const std::uint32_t of_block = kBlock / type.inputs;  // blocks of weights per kept block
  return weights.kept[output * type.outputs / kBlock][kept / of_block] * of_block + kept % of_block;
}

/// Writes the weights of one output and one input block at a tap.
void write_block(const VectorType& type, const LayerWeights& weights, std::uint32_t output,
                 std::uint32_t input, std::uint32_t row, std::uint32_t column, std::byte* into) {
  for (std::uint32_t i = 0; i < type.inputs; ++i)
    for (std::uint32_t o = 0; o < type.outputs; ++o, into += type.bytes)
      std::memcpy(into,
                  &weights.values[weights.index(output * type.outputs + o, row, column,
                                                input * type.inputs + i)],
                  type.bytes);
}

/// Writes the biases of an output block, repeated to fill kBiasBlockBytes.
void write_bias(const VectorType& type, std::span<const std::int64_t> bias, std::byte* into) {
  const std::size_t bytes = type.is_float() ? sizeof(float) : kBiasBlockBytes / type.outputs;
  for (std::size_t i = 0; i < kBiasBlockBytes / bytes; ++i)
    std::memcpy(into + i * bytes, &bias[i % type.outputs], bytes);
}

}  // namespace

std::vector<std::byte> lone_weights(const Layer& layer, std::uint32_t first) {
  std::vector<float> factors(std::size_t{layer.window.height} * layer.window.width,
                             mean_factor(layer));
  if (layer.op == Operator::add)
    factors = {static_cast<float>(1U << layer.left_shifts[first]),
               static_cast<float>(1U << layer.left_shifts[1 - first])};
  return shared_weights(type_of(layer), factors);
}

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
      WeightSupply::write(plan, tile, into.subspan(tile.offset, tile.bytes));
  };
  weights_ = program.add_buffer(buffer_of(plan.array.ddr, bytes, "weights", write));
}

/// Adds a layer's tiles from byte `begin` of the buffer on; returns their end. A layer with the
/// weights of another one and the same tiling shares its tiles.
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
                          plan_.layers[*other].mapping.parts == mapping.parts &&
                          plan_.layers[*other].mapping.core_rows == mapping.core_rows &&
                          plan_.layers[*other].mapping.zeros == mapping.zeros;
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
        contents.push_back({layer, blocks, part, begin, each});
    }
  }
  return begin;
}

void WeightSupply::write(const Plan& plan, const WeightTile& tile, std::span<std::byte> into) {
  const Layer& layer = plan.network->layers[tile.layer];
  std::ranges::fill(into, std::byte{});
  if (layer.op != Operator::convolution) {
    std::memcpy(into.data(), lone_weights(layer).data(), into.size());
    return;
  }
  const LayerShape shape = shape_of(plan, tile.layer);
  const LayerWeights& weights = *(*plan.weights)[tile.layer];
  const VectorType& type = shape.type();
  const std::uint32_t kept = shape.kept_of_part();
  const std::uint32_t planes = block_planes(type);
  const std::uint32_t block_bytes = step_bytes(type) / planes;
  std::byte* at = into.data();
  for (std::uint32_t block = tile.blocks.begin; block < tile.blocks.end; block += planes) {
    const std::uint32_t number = block - tile.blocks.begin;
    for (std::uint32_t i = 0; i < kept; ++i) {
      const std::uint32_t input = input_block(shape, weights, block, tile.part * kept + i);
      for (std::uint32_t row = 0; row < weights.height; ++row)
        for (std::uint32_t column = 0; column < weights.width; ++column)
          for (std::uint32_t plane = 0; plane < planes; ++plane, at += block_bytes)
            write_block(type, weights, block + plane, input, row, column, at);
      const auto word = static_cast<std::uint16_t>(input);
      std::memcpy(into.data() + shape.numbers_at() + (number / planes * kept + i) * sizeof word,
                  &word, sizeof word);
    }
    for (std::uint32_t plane = 0; plane < planes; ++plane)
      write_bias(type, std::span(weights.bias).subspan(std::size_t{block + plane} * type.outputs),
                 into.data() + shape.bias_at() + std::size_t{number + plane} * kBiasBlockBytes);
  }
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
