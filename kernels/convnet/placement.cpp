#include <algorithm>
#include <functional>
#include <optional>

#include "kernels/convnet/program.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"

namespace tessera::convnet {
namespace {

class Placer {
 public:
  explicit Placer(const Plan& plan)
      : plan_(plan), network_(*plan.network), type_(type_of(network_.layers.front())) {
    placement_.views.resize(network_.layers.size());
    placement_.beside.resize(network_.layers.size());
    for (std::uint32_t layer = 0; layer < network_.layers.size(); ++layer) enter(layer);
  }

  Placement place() {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < placement_.held.size(); ++i) {
      Held& held = placement_.held[i];
      held.outside = !plan_.placement.held.empty() && plan_.placement.held[i].outside;
      if (!held.outside) {
        blocks.push_back({&held.address, held.bytes(), placement_.lives[i]});
      } else if (i != placement_.views.front().held && i != placement_.views.back().held) {
        // The image and the result are in DDR anyway.
        held.ddr = static_cast<std::uint32_t>(placement_.ddr_bytes);  // no node has more
        placement_.ddr_bytes += round_up(held.all_bytes(), kAlign);
      }
    }
    for (std::uint32_t layer = 0; layer < network_.layers.size(); ++layer) {
      if (!plan_.computes(layer)) continue;
      const StagedBytes bytes = shape_of(plan_, layer).beside();
      for (std::uint32_t StagedBytes::*const part :
           {&StagedBytes::halo, &StagedBytes::rows, &StagedBytes::operands, &StagedBytes::results})
        if (bytes.*part > 0)
          blocks.push_back({&(placement_.beside[layer].*part), bytes.*part, {layer, layer + 1}});
    }
    std::ranges::stable_sort(blocks, std::greater(), &Block::bytes);
    std::vector<Block> placed;
    for (const Block& block : blocks) {
      std::uint32_t at = plan_.ring_end();
      std::ranges::sort(placed, {}, [](const Block& each) { return *each.address; });
      for (const Block& other : placed) {
        if (other.life.end <= block.life.begin || block.life.end <= other.life.begin) continue;
        if (*other.address >= at + block.bytes) break;
        at = std::max(at, round_up(*other.address + other.bytes, kAlign));
      }
      *block.address = at;
      placed.push_back(block);
      if (at + std::uint64_t{block.bytes} <= placement_.bytes) continue;
      placement_.bytes = at + std::uint64_t{block.bytes};
      placement_.fullest_layer = block.life.begin;
    }
    return std::move(placement_);
  }

 private:
  struct Block {
    std::uint32_t* address;
    std::uint32_t bytes;
    Range life;
  };

  [[nodiscard]] bool is_joint(std::uint32_t layer) const {
    return network_.layers[layer].op == Operator::concatenate;
  }
  /// Places a layer's tensor; every earlier layer has a view.
  void enter(std::uint32_t number) {
    const Layer& layer = network_.layers[number];
    if (plan_.made[number]) return;
    const std::uint32_t sum = plan_.addition(number).value_or(number);
    View& view = placement_.views[sum];
    const std::vector<std::uint32_t> users = network_.users(sum);
    const auto joins = [this](std::uint32_t user) { return is_joint(user); };
    if (layer.op == Operator::concatenate) {  // created by its first input
      if (std::ranges::any_of(users, [&](std::uint32_t user) {
            return joins(user) && !layer.joins_rows && !network_.layers[user].joins_rows;
          }))
        throw UserError(
            "network {}: layer {}: found a concatenation of a concatenation, "
            "allowed of other layers",
            network_.name, layer.name);
      return;
    }
    for (const std::uint32_t input : layer.inputs) use(input, number);
    for (const std::uint32_t input : network_.layers[sum].inputs)
      if (input != number) use(input, number);
    const auto joined = std::ranges::find_if(users, joins);
    if (joined != users.end()) {
      if (layer.op == Operator::input)
        throw UserError(
            "network {}: layer {}: found the network's input, allowed outputs of its layers",
            network_.name, network_.layers[*joined].name);
      if (std::ranges::count_if(users, joins) > 1)
        throw UserError(
            "network {}: layer {}: found two concatenations of its output, "
            "allowed one",
            network_.name, layer.name);
      if (std::ranges::count(network_.layers[*joined].inputs, sum) > 1)
        throw UserError("network {}: layer {}: found {} more than once, allowed once",
                        network_.name, network_.layers[*joined].name, layer.name);
      view = join(*joined, sum);
    } else if (const auto operand = ending_operand(sum, number)) {
      view = placement_.views[*operand];
    } else {
      view = {add(layer.output, number)};
    }
    placement_.views[number] = view;
    use(number, number);
  }

  /// The view of layer `number` within the concatenation `joint`.
  View join(std::uint32_t joint, std::uint32_t number) {
    const Layer& all = network_.layers[joint];
    View& whole = placement_.views[joint];
    if (!contains(joints_, joint)) {
      const std::vector<std::uint32_t> users = network_.users(joint);
      const auto outer =
          std::ranges::find_if(users, [this](std::uint32_t user) { return is_joint(user); });
      whole = outer != users.end() ? join(*outer, joint) : View{add(all.output, number)};
      joints_.push_back(joint);
    }
    View view = whole;
    for (const std::uint32_t input : all.inputs) {
      if (input == number) break;
      if (all.joins_rows) {
        view.first_row += network_.layers[input].output.height;
        continue;
      }
      // NetworkBuilder ensures that all inputs but the last have whole blocks of channels.
      view.first_block += network_.layers[input].output.channels / type_.outputs;
    }
    return view;
  }
  /// An operand of an addition without later users; not the fused convolution `maker`, nor a tensor
  /// that it reads.
  [[nodiscard]] std::optional<std::uint32_t> ending_operand(std::uint32_t number,
                                                            std::uint32_t maker) const {
    const Layer& layer = network_.layers[number];
    if (layer.op != Operator::add) return std::nullopt;
    for (const std::uint32_t input : layer.inputs) {
      if (maker != number &&
          (input == maker ||
           placement_.views[input].held == placement_.views[network_.layers[maker].inputs[0]].held))
        continue;
      const std::vector<std::uint32_t> users = network_.users(input);
      const bool alone =
          placement_.of(input).blocks == planes_of(network_.layers[input].output.channels, type_);
      const bool same_rows = network_.layers[input].output.height == layer.output.height;
      if (alone && same_rows && users.back() == number &&
          network_.layers[input].op != Operator::concatenate)
        return input;
    }
    return std::nullopt;
  }

  std::uint32_t add(const Shape& shape, std::uint32_t layer) {
    placement_.held.push_back({shape.height, shape.width, planes_of(shape.channels, type_),
                               plan_.columns[layer], plan_.array.column_multiple});
    placement_.lives.push_back({layer, layer + 1});
    return static_cast<std::uint32_t>(placement_.held.size() - 1);
  }
  void use(std::uint32_t tensor, std::uint32_t layer) {
    Range& life = placement_.lives[placement_.views[tensor].held];
    life.begin = std::min(life.begin, layer);
    life.end = std::max(life.end, layer + 1);
  }

  const Plan& plan_;
  const Network& network_;
  const VectorType& type_;
  Placement placement_;
  std::vector<std::uint32_t> joints_;  ///< concatenations that have a view
};

}  // namespace

Placement place_tensors(const Plan& plan) { return Placer(plan).place(); }

}  // namespace tessera::convnet
