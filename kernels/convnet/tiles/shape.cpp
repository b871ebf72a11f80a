#include <algorithm>

#include "kernels/convnet/tiles/geometry.h"
#include "sim/base/errors.h"
#include "sim/base/types.h"

namespace tessera::convnet::tiles {

namespace {

Kind kind_of(Operator op) {
  if (op == Operator::convolution) return Kind::sums;
  if (op == Operator::average_pool) return Kind::means;
  return op == Operator::max_pool ? Kind::maxima : Kind::diagonal;
}

/// The operand of an addition that is a convolution without other users; the later one of two.
std::optional<std::uint32_t> convolution_of(const Network& network, std::uint32_t number) {
  const Layer& layer = network.layers[number];
  std::optional<std::uint32_t> found;
  if (layer.op != Operator::add || layer.inputs[0] == layer.inputs[1]) return found;
  for (const std::uint32_t input : layer.inputs) {
    const Layer& operand = network.layers[input];
    if (operand.op == Operator::convolution && !operand.relu && network.users(input).size() == 1 &&
        (!found || *found < input))
      found = input;
  }
  return found;
}

/// Turns the places of a window's row into channels.
void unfold(LayerShape& shape, const BlockShape& block) {
  shape.unfolded = true;
  shape.unfolded_columns = shape.window.width;
  shape.unfolded_left = shape.window.left;
  shape.window.width = 1;
  shape.window.left = shape.window.right = 0;
  shape.operands = {
      std::vector<Source>(ceil_div(shape.unfolded_columns * shape.input.channels, block.depth))};
}

LayerShape shape_of(const Network& network, std::uint32_t number, const BlockShape& block) {
  if (const auto convolution = convolution_of(network, number)) {
    LayerShape shape = shape_of(network, *convolution, block);
    const auto& operands = network.layers[number].inputs;
    shape.number = number;
    shape.relu = network.layers[number].relu;
    shape.addend =
        chunks_of(network, operands[0] == *convolution ? operands[1] : operands[0], block);
    return shape;
  }
  const Layer& layer = network.layers[number];
  LayerShape shape;
  shape.number = shape.weighted = number;
  shape.kind = kind_of(layer.op);
  if (layer.has_window()) shape.window = layer.window;
  shape.input = layer.input;
  shape.output = layer.output;
  shape.relu = layer.relu;
  for (const std::uint32_t input : layer.inputs) {
    shape.operands.push_back(chunks_of(network, input, block));
    shape.given = shape.given || input == 0;
  }
  if (shape.given && shape.kind == Kind::sums) unfold(shape, block);
  return shape;
}

}  // namespace

std::vector<Source> chunks_of(const Network& network, std::uint32_t number,
                              const BlockShape& block) {
  const Layer& layer = network.layers[number];
  std::vector<Source> chunks;
  if (layer.op != Operator::concatenate) {
    for (std::uint32_t i = 0; i < ceil_div(layer.output.channels, block.depth); ++i)
      chunks.push_back({number, i});
    return chunks;
  }
  for (const std::uint32_t input : layer.inputs) {
    const std::uint32_t channels = network.layers[input].output.channels;
    if (input != layer.inputs.back() && channels % block.depth != 0)
      throw KeyError("workload.network",
                     "found {} channels of layer '{}', allowed a multiple of {} where "
                     "layer '{}' concatenates them, with dtype f16 on this machine",
                     channels, network.layers[input].name, block.depth, layer.name);
    for (const Source& chunk : chunks_of(network, input, block)) chunks.push_back(chunk);
  }
  return chunks;
}

std::vector<std::optional<LayerShape>> layer_shapes(const Network& network,
                                                    const BlockShape& block) {
  for (const Layer& layer : network.layers)
    if (layer.inputs.size() > 1 && std::ranges::count(layer.inputs, 0U) > 0)
      throw KeyError(
          "workload.network",
          "layer '{}': found the image with other tensors, allowed the image alone with dtype f16",
          layer.name);
  std::vector<std::optional<LayerShape>> shapes(network.layers.size());
  for (std::uint32_t i = 1; i < network.layers.size(); ++i)
    if (network.layers[i].op != Operator::concatenate) shapes[i] = shape_of(network, i, block);
  for (const std::optional<LayerShape>& shape : shapes)
    if (shape && shape->weighted != shape->number) shapes[shape->weighted].reset();
  return shapes;
}

}  // namespace tessera::convnet::tiles
