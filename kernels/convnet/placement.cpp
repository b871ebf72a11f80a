#include "kernels/convnet/placement.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "sim/base/errors.h"

namespace tessera::convnet {
namespace {

/// Layers [first, last] during which bytes are held.
struct Life {
  std::uint32_t first, last;
};

class Placer {
 public:
  Placer(const Network& network, const Array& array, const std::vector<bool>& adds)
      : network_(network), array_(array), adds_(adds) {
    placement_.views.resize(network.layers.size());
    placement_.halo.resize(network.layers.size());
    for (std::uint32_t layer = 0; layer < network.layers.size(); ++layer) enter(layer);
  }

  Placement place(std::uint32_t base, const std::vector<bool>& outside,
                  const std::vector<Staging>& staging) {
    placement_.rows.resize(network_.layers.size());
    placement_.operands.resize(network_.layers.size());
    placement_.results.resize(network_.layers.size());
    for (const Life& life : lives_) placement_.lives.push_back({life.first, life.last + 1});
    for (std::size_t i = 0; i < outside.size(); ++i) {
      Held& held = placement_.held[i];
      held.outside = outside[i];
      // The image and the result lie there anyway.
      if (!held.outside || i == placement_.views.front().held || i == placement_.views.back().held)
        continue;
      held.ddr = placement_.ddr_bytes;
      placement_.ddr_bytes += round_up(held.all_bytes(), kAlign);
    }
    struct Block {
      std::uint32_t* address;
      std::uint32_t bytes;
      Life life;
    };
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < placement_.held.size(); ++i)
      if (!placement_.held[i].outside)
        blocks.push_back({&placement_.held[i].address, placement_.held[i].bytes(), lives_[i]});
    const auto add_block = [&](std::uint32_t& address, std::uint32_t bytes, std::uint32_t layer) {
      if (bytes > 0) blocks.push_back({&address, bytes, {layer, layer}});
    };
    for (std::uint32_t layer = 0; layer < network_.layers.size(); ++layer) {
      add_block(placement_.halo[layer], halo_bytes(layer), layer);
      if (staging.empty()) continue;
      add_block(placement_.rows[layer], 2 * staging[layer].rows, layer);
      add_block(placement_.operands[layer], 2 * staging[layer].operands, layer);
      add_block(placement_.results[layer], 2 * staging[layer].results, layer);
    }
    std::ranges::stable_sort(blocks, std::greater(), &Block::bytes);
    std::vector<Block> placed;
    for (const Block& block : blocks) {
      std::uint32_t at = base;
      std::ranges::sort(placed, {}, [](const Block& each) { return *each.address; });
      for (const Block& other : placed) {
        if (other.life.last < block.life.first || block.life.last < other.life.first) continue;
        if (*other.address >= at + block.bytes) break;
        at = std::max(at, round_up(*other.address + other.bytes, kAlign));
      }
      *block.address = at;
      placed.push_back(block);
      if (at + std::uint64_t{block.bytes} <= placement_.bytes) continue;
      placement_.bytes = at + std::uint64_t{block.bytes};
      placement_.fullest_layer = block.life.first;
    }
    return std::move(placement_);
  }

 private:
  /// Every earlier layer has a view.
  void enter(std::uint32_t number) {
    const Layer& layer = network_.layers[number];
    if (is_made_before(number)) return;
    const std::uint32_t sum = adds_[number] ? *network_.addition_of(number) : number;
    View& view = placement_.views[sum];
    const std::vector<std::uint32_t> users = network_.users(sum);
    const auto joins = [&](std::uint32_t user) {
      return network_.layers[user].op == Operator::concatenate;
    };
    if (layer.op == Operator::concatenate) {  // its first input has made it
      if (std::ranges::any_of(users, [&](std::uint32_t user) {
            return joins(user) && !layer.joins_rows && !network_.layers[user].joins_rows;
          }))
        throw UserError(
            fmt::format("network {}: layer {}: found a concatenation of a concatenation, "
                        "allowed of other layers",
                        network_.name, layer.name));
      return;
    }
    for (const std::uint32_t input : layer.inputs) use(input, number);
    for (const std::uint32_t input : network_.layers[sum].inputs)
      if (input != number) use(input, number);
    const auto joined = std::ranges::find_if(users, joins);
    if (joined != users.end()) {
      if (layer.op == Operator::input)
        throw UserError(fmt::format(
            "network {}: layer {}: found the network's input, allowed outputs of its layers",
            network_.name, network_.layers[*joined].name));
      if (std::ranges::count_if(users, joins) > 1)
        throw UserError(
            fmt::format("network {}: layer {}: found two concatenations of its output, "
                        "allowed one",
                        network_.name, layer.name));
      if (std::ranges::count(network_.layers[*joined].inputs, sum) > 1)
        throw UserError(fmt::format("network {}: layer {}: found {} more than once, allowed once",
                                    network_.name, network_.layers[*joined].name, layer.name));
      view = join(*joined, sum);
    } else if (const auto operand = ending_operand(sum, number)) {
      view = placement_.views[*operand];
    } else {
      view = {add(layer.output, number)};
    }
    placement_.views[number] = view;
    use(number, number);
  }

  /// The place of a layer in the concatenation of several.
  View join(std::uint32_t joint, std::uint32_t number) {
    const Layer& all = network_.layers[joint];
    View& whole = placement_.views[joint];
    if (!made(joint)) {
      const std::vector<std::uint32_t> users = network_.users(joint);
      const auto outer = std::ranges::find_if(users, [&](std::uint32_t user) {
        return network_.layers[user].op == Operator::concatenate;
      });
      whole = outer != users.end() ? join(*outer, joint) : View{add(all.output, number)};
      made_.push_back(joint);
    }
    View view = whole;
    for (const std::uint32_t input : all.inputs) {
      if (input == number) break;
      if (all.joins_rows) {
        view.first_row += network_.layers[input].output.height;
        continue;
      }
      const std::uint32_t channels = network_.layers[input].output.channels;
      if (channels % kBlock != 0)
        throw UserError(
            fmt::format("network {}: layer {}: found {} channels before others of a "
                        "concatenation, allowed multiples of {}",
                        network_.name, network_.layers[input].name, channels, kBlock));
      view.first_block += channels / kBlock;
    }
    return view;
  }
  [[nodiscard]] bool made(std::uint32_t joint) const {
    return std::ranges::count(made_, joint) > 0;
  }

  /// Whether it is an addition that a convolution before makes.
  [[nodiscard]] bool is_made_before(std::uint32_t number) const {
    return std::ranges::any_of(network_.layers[number].inputs, [&](std::uint32_t input) {
      return adds_[input] && network_.addition_of(input) == number;
    });
  }

  /// An operand of an addition that nobody uses afterwards; not its own convolution, `maker`, nor
  /// what that one reads meanwhile.
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
      const bool alone = placement_.of(input).blocks ==
                         padded_channels(network_.layers[input].output.channels) / kBlock;
      const bool same_rows = network_.layers[input].output.height == layer.output.height;
      if (alone && same_rows && users.back() == number &&
          network_.layers[input].op != Operator::concatenate)
        return input;
    }
    return std::nullopt;
  }

  std::uint32_t add(const Shape& shape, std::uint32_t layer) {
    placement_.held.push_back({shape.height, shape.width, padded_channels(shape.channels) / kBlock,
                               array_.columns, array_.column_multiple});
    lives_.push_back({layer, layer});
    return static_cast<std::uint32_t>(placement_.held.size() - 1);
  }
  void use(std::uint32_t tensor, std::uint32_t layer) {
    Life& life = lives_[placement_.views[tensor].held];
    life.first = std::min(life.first, layer);
    life.last = std::max(life.last, layer);
  }
  [[nodiscard]] std::uint32_t halo_bytes(std::uint32_t number) const {
    const Layer& layer = network_.layers[number];
    if (!layer.has_window() || placement_.of(layer.inputs[0]).outside) return 0;
    std::uint32_t most = 0;
    for (std::uint32_t column = 0; column < array_.columns; ++column)
      most = std::max(most, ColumnGeometry(layer, array_, column).halo_columns());
    return most * kBlock * layer.input.height * (padded_channels(layer.input.channels) / kBlock);
  }

  const Network& network_;
  const Array& array_;
  const std::vector<bool>& adds_;
  Placement placement_;
  std::vector<Life> lives_;  ///< by held tensor
  std::vector<std::uint32_t> made_;
};

}  // namespace

Placement place_tensors(const Network& network, const Array& array, const std::vector<bool>& adds,
                        std::uint32_t base, const std::vector<bool>& outside,
                        const std::vector<Staging>& staging) {
  return Placer(network, array, adds).place(base, outside, staging);
}

}  // namespace tessera::convnet
