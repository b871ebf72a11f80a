#include "kernels/convnet/program.h"

#include <algorithm>
#include <utility>

#include "kernels/convnet/layer_program.h"

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
        code_(program) {}

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
  void everywhere(const std::string& name) {
    for (std::uint32_t node = 0; node < array_.nodes(); ++node) lists_.mark(node, name);
  }

  const Plan& plan_;
  const Array& array_;
  ArrayMemory memory_;
  ArrayProgram lists_;
  WeightSupply supply_;
  CoreCode code_;
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

void Builder::add_layer(std::uint32_t number) {
  LayerProgram layer(plan_, number, memory_, supply_, code_, lists_);
  everywhere(plan_.network->layers[number].name);
  layer.add_halo();
  if (!plan_.weights_ahead)
    for (std::uint32_t row = 0; row < array_.rows; ++row) supply_.ask(row, number);
  layer.add_lists();
}

}  // namespace

LayerShape shape_of(const Plan& plan, std::uint32_t number) {
  const Layer& layer = plan.network->layers[number];
  const LayerWeights& weights = *(*plan.weights)[number];
  LayerShape shape(
      layer, plan.array,
      layer.op == Operator::convolution
          ? static_cast<std::uint32_t>(weights.kept.empty() ? 0 : weights.kept[0].size())
          : 1);
  shape.mapping = plan.layers[number].mapping;
  if (plan.placement.views.empty()) return shape;
  const auto outside = [&](std::uint32_t tensor) { return plan.placement.of(tensor).outside; };
  shape.ddr = {std::ranges::any_of(layer.inputs, outside), false, outside(number)};
  if (const auto addition = plan.addition(number))
    for (const std::uint32_t input : plan.network->layers[*addition].inputs)
      shape.ddr.adds = shape.ddr.adds || (input != number && outside(input));
  return shape;
}

program::Program make_program(const Plan& plan) {
  program::Program program(plan.array.nodes());
  Builder(plan, program).build();
  return program;
}

}  // namespace tessera::convnet
