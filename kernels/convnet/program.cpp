#include "kernels/convnet/program.h"

#include <algorithm>
#include <utility>

#include "kernels/convnet/layer_program.h"

namespace tessera::convnet {
LayerShape shape_of(const Plan& plan, std::uint32_t number) {
  const Layer& layer = plan.network->layers[number];
  const LayerWeights& weights = *(*plan.weights)[number];
  const std::size_t kept = weights.kept.empty() ? 0 : weights.kept[0].size();
  LayerShape shape(layer, plan.array, {plan.columns[layer.inputs.front()], plan.columns[number]},
                   layer.op == Operator::convolution
                       ? static_cast<std::uint32_t>(kept) * kBlock / type_of(layer).inputs
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

namespace {

/// Moves a tensor from `outside` to the memory tiles, or back (`stores`), all columns concurrently.
void move_whole(const Plan& plan, const ArrayMemory& memory, ArrayProgram& lists,
                std::uint32_t layer, bool stores, const Area& outside) {
  const Held& held = plan.placement.of(layer);
  if (held.outside) return;
  const Layer& moved = plan.network->layers[layer];
  const Range blocks{0, planes_of(moved.output.channels, type_of(moved))};
  const Range rows{0, held.height};
  std::vector<TransferId> all;
  for (std::uint32_t column = 0; column < held.columns; ++column) {
    const Range slice = held.slice(column);
    if (slice.size() == 0) continue;
    Walk from = outside.part(blocks, rows, slice);
    Walk to = memory.slice(layer, column).part(blocks, rows, {0, slice.size()});
    if (stores) std::swap(from, to);
    all.push_back(
        lists.transfer(kind_of(stores ? TransferChain::store : TransferChain::load, column),
                       stores ? "result" : "image", {{stores ? kStore : kLoad, from, {to}}}));
    lists.start_all(all.back());
  }
  for (const TransferId id : all) lists.wait_all(id);
}

}  // namespace

/// Layer by layer: transfers of neighbours' columns, then the nodes' lists.
PricedProgram make_program(const Plan& plan, const MachineConfig& machine, CallCosts& costs) {
  const Array& array = plan.array;
  program::Program program(array.nodes());
  const ArrayMemory memory(plan, program);
  ArrayProgram lists(program);
  WeightSupply supply(plan, memory, program, lists);
  CoreCode code(program);
  const auto everywhere = [&](const std::string& name) {
    for (std::uint32_t node = 0; node < array.nodes(); ++node) lists.mark(node, name);
  };
  const auto ask = [&](std::uint32_t layer) {
    for (std::uint32_t row = 0; row < array.rows; ++row) supply.ask(row, layer);
  };
  if (plan.weights_ahead) ask(0);
  everywhere("load");
  move_whole(plan, memory, lists, 0, false, memory.outside(0));
  for (std::uint32_t number = 0; number < plan.layers.size(); ++number) {
    if (!plan.computes(number)) continue;
    LayerProgram layer(plan, number, memory, supply, code, lists, costs);
    everywhere(plan.network->layers[number].name);
    layer.add_halo();
    if (!plan.weights_ahead) ask(number);
    layer.add_lists();
  }
  everywhere("store");
  move_whole(plan, memory, lists, static_cast<std::uint32_t>(plan.layers.size() - 1), true,
             memory.result());
  const arrays::Estimate estimate = lists.estimate(machine);
  lists.finish();
  return {std::move(program), estimate};
}

}  // namespace tessera::convnet
