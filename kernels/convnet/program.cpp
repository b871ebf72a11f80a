#include "kernels/convnet/program.h"

#include <algorithm>
#include <utility>

#include "kernels/convnet/layer_lists.h"

namespace tessera::convnet {
namespace {

/// Layer by layer: columns of neighbours, then what each node does.
class Builder {
 public:
  Builder(const Plan& plan, program::Program& program)
      : plan_(plan),
        array_(plan.array),
        memory_(plan, program),
        lists_(program),
        supply_(plan, memory_, program, lists_),
        calls_(program) {}

  void build() {
    if (plan_.weights_ahead)
      for (std::uint32_t row = 0; row < array_.rows; ++row) supply_.ask(row, 0);
    move_whole(0, false, memory_.outside(0));
    for (std::uint32_t layer = 0; layer < plan_.network->layers.size(); ++layer)
      if (plan_.computes(layer)) add_layer(layer);
    const auto last = static_cast<std::uint32_t>(plan_.network->layers.size() - 1);
    move_whole(last, true, memory_.result());
    lists_.finish();
  }

 private:
  void move_whole(std::uint32_t layer, bool stores, const Area& outside);
  void add_layer(std::uint32_t number);
  void add_halo(std::uint32_t number, const LayerShape& shape);
  void add_halo_piece(std::uint32_t number, std::uint32_t column, const Area& into, Range columns,
                      std::uint32_t at, std::vector<Stream>& streams) const;
  void everywhere(const std::string& name) {
    for (std::uint32_t node = 0; node < array_.nodes(); ++node) lists_.mark(node, name);
  }

  const Plan& plan_;
  const Array& array_;
  ArrayMemory memory_;
  ArrayProgram lists_;
  WeightSupply supply_;
  CoreCalls calls_;
};

/// A tensor of the memory tiles from `outside` to them or, if `stores`, back, all columns at once.
void Builder::move_whole(std::uint32_t layer, bool stores, const Area& outside) {
  const Held& held = plan_.placement.of(layer);
  everywhere(stores ? "store" : "load");
  if (held.outside) return;
  const Range blocks{0, padded_channels(plan_.network->layers[layer].output.channels) / kBlock};
  const Range rows{0, held.height};
  std::vector<TransferId> all;
  for (std::uint32_t column = 0; column < array_.columns; ++column) {
    const Range slice = held.slice(column);
    if (slice.size() == 0) continue;
    Walk from = outside.part(blocks, rows, slice);
    Walk to = memory_.slice(layer, column).part(blocks, rows, {0, slice.size()});
    if (stores) std::swap(from, to);
    all.push_back(
        lists_.transfer(kind_of(stores ? TransferChain::store : TransferChain::load, column),
                        stores ? "result" : "image", {{stores ? kStore : kLoad, from, {to}}}));
    lists_.start_all(all.back());
  }
  for (const TransferId id : all) lists_.wait_all(id);
}

/// Columns of a layer's input that a memory tile needs of others, one owner after the other, to
/// column `at` of its halo.
void Builder::add_halo_piece(std::uint32_t number, std::uint32_t column, const Area& into,
                             Range columns, std::uint32_t at, std::vector<Stream>& streams) const {
  const std::uint32_t input = plan_.network->layers[number].inputs[0];
  const Held& held = plan_.placement.of(input);
  const Range blocks{0, padded_channels(plan_.network->layers[number].input.channels) / kBlock};
  const Range rows{0, plan_.network->layers[number].input.height};
  const std::uint32_t first_row = plan_.network->layers[number].first_row(0);
  for (std::uint32_t owner = 0; owner < array_.columns; ++owner) {
    const Range slice = held.slice(owner);
    const Range part{std::max(slice.begin, columns.begin), std::min(slice.end, columns.end)};
    if (owner == column || part.begin >= part.end) continue;
    const std::uint32_t first = at + part.begin - columns.begin;
    streams.push_back({kHalo,
                       memory_.slice(input, owner)
                           .below(first_row)
                           .part(blocks, rows, {part.begin - slice.begin, part.end - slice.begin}),
                       {into.part(blocks, rows, {first, first + part.size()})}});
  }
}

void Builder::add_halo(std::uint32_t number, const LayerShape& shape) {
  const Layer& layer = plan_.network->layers[number];
  if (!layer.has_window() || plan_.placement.of(layer.inputs[0]).outside) return;
  std::vector<Stream> streams;
  for (std::uint32_t column = 0; column < array_.columns; ++column) {
    const ColumnGeometry& geometry = shape.column(column);
    const Area into = memory_.halo(number, column, geometry.halo_columns());
    std::uint32_t at = 0;
    for (const Piece& piece : geometry.pieces()) {
      if (piece.from != Piece::From::halo) continue;
      add_halo_piece(number, column, into, {piece.source_column, piece.source_column + piece.count},
                     at, streams);
      at += piece.count;
    }
  }
  if (streams.empty()) return;
  const TransferId id =
      lists_.transfer(kind_of(TransferChain::halo, 0), layer.name + " halo", std::move(streams));
  lists_.start_all(id);
  lists_.wait_all(id);
}

void Builder::add_layer(std::uint32_t number) {
  const LayerShape shape = shape_of(plan_, number);
  const Mapping& mapping = plan_.mappings[number];
  const std::vector<Item> items = items_of(shape, mapping);
  everywhere(plan_.network->layers[number].name);
  add_halo(number, shape);
  if (!plan_.weights_ahead)
    for (std::uint32_t row = 0; row < array_.rows; ++row) supply_.ask(row, number);
  const LayerStreams streams(plan_, number, shape, items, memory_, supply_, lists_);
  LayerLists lists(plan_, shape, mapping, items, streams, memory_, supply_, calls_, lists_);
  for (std::uint32_t row = 0; row < array_.rows; ++row)
    for (std::uint32_t column = 0; column < array_.columns; ++column)
      if (shape.works(mapping, row, column)) lists.core(row, column);
  lists.memory_tiles();
}

}  // namespace

bool Plan::computes(std::uint32_t layer) const {
  const Layer& which = network->layers[layer];
  return is_computed(which) && std::ranges::none_of(which.inputs, [&](std::uint32_t input) {
           return addition(input) == layer;
         });
}

LayerShape shape_of(const Plan& plan, std::uint32_t number) {
  const Layer& layer = plan.network->layers[number];
  const LayerWeights& weights = *(*plan.weights)[number];
  return {layer, plan.array,
          layer.op == Operator::convolution
              ? static_cast<std::uint32_t>(weights.kept.empty() ? 0 : weights.kept[0].size())
              : 1};
}

std::uint32_t ring_end(const Plan& plan) { return plan.array.rows_a_tile() * 2 * plan.ring_bytes; }

program::Program make_program(const Plan& plan) {
  program::Program program(plan.array.nodes());
  Builder(plan, program).build();
  return program;
}

}  // namespace tessera::convnet
