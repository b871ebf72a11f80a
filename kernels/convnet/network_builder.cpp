#include "kernels/convnet/network_builder.h"

#include "sim/base/ranges.h"
#include "sim/config/nearest.h"

namespace tessera::convnet {

namespace {

/// Output rows or columns; 0 if the window is larger than the padded input.
std::uint32_t steps(std::uint32_t input, std::uint32_t window, std::uint32_t stride,
                    std::uint32_t before, std::uint32_t behind) {
  const std::uint32_t padded = input + before + behind;
  return padded < window ? 0 : (padded - window) / stride + 1;
}

}  // namespace

void NetworkBuilder::add(const LayerStatement& statement) {
  layer_ = static_cast<const Layer&>(statement);
  if (network_.layers.size() == kMostLayers) fail("is one more than the {} allowed", kMostLayers);
  if (numbers_.contains(layer_.name)) fail("stands twice");
  require_inputs(statement);
  for (const std::string& from : statement.from) layer_.inputs.push_back(number_of(from));
  set_shapes();
  require_sizes();
  if (statement.expected && *statement.expected != layer_.output)
    fail("its output is {} by its inputs, but the file says {}", text_of(layer_.output),
         text_of(*statement.expected));
  const std::uint64_t weights = network_.weights() + layer_.weights();
  if (weights > kMostWeights)
    fail("with it the network has {} weights, allowed {}", weights, kMostWeights);
  numbers_[layer_.name] = static_cast<std::uint32_t>(network_.layers.size());
  network_.layers.push_back(layer_);
}

std::uint32_t NetworkBuilder::number_of(const std::string& from) const {
  if (const auto found = numbers_.find(from); found != numbers_.end()) return found->second;
  if (from == layer_.name) fail("uses its own output");
  if (contains(later_, from))
    fail("uses '{}', which comes later: layers must be in order of execution, without cycles",
         from);
  fail("uses '{}', which is not a layer{}", from,
       config::did_you_mean(from, mapped(network_.layers, &Layer::name)));
}

void NetworkBuilder::require_inputs(const LayerStatement& statement) const {
  const std::size_t count = statement.from.size();
  const bool first = network_.layers.empty();
  if (first && layer_.op != Operator::input)
    fail("found operator {} of the first layer, allowed input",
         config::name_of(kOperators, layer_.op));
  if (!first && layer_.op == Operator::input) fail("is a second input, allowed one");
  if (layer_.op == Operator::input) {
    if (count != 0) fail("is the input, but uses '{}'", statement.from.front());
  } else if (layer_.op == Operator::add) {
    if (count != 2) fail("adds {} inputs, allowed 2", count);
  } else if (layer_.op == Operator::concatenate) {
    if (count < 2) fail("concatenates {} inputs, allowed 2 or more", count);
  } else if (count != 1) {
    fail("has {} inputs, allowed 1", count);
  }
}

void NetworkBuilder::set_shapes() {
  if (layer_.op == Operator::input) {
    layer_.input = layer_.output;
    return;
  }
  layer_.input = network_.layers[layer_.inputs.front()].output;
  const std::uint32_t channels = layer_.output.channels;
  layer_.output = layer_.input;
  if (layer_.op == Operator::convolution) layer_.output.channels = channels;
  if (layer_.has_window()) {
    set_window_shapes();
  } else {
    set_joined_shapes();
  }
}

void NetworkBuilder::set_window_shapes() {
  const Window& w = layer_.window;
  if (w.top >= w.height || w.bottom >= w.height || w.left >= w.width || w.right >= w.width)
    fail("pads by {}, {}, {}, {} (top, left, bottom, right), allowed less than its window of {}x{}",
         w.top, w.left, w.bottom, w.right, w.height, w.width);
  layer_.output.height = steps(layer_.input.height, w.height, w.stride_height, w.top, w.bottom);
  layer_.output.width = steps(layer_.input.width, w.width, w.stride_width, w.left, w.right);
  if (layer_.output.height == 0 || layer_.output.width == 0)
    fail("its window of {}x{} is larger than its padded input of {}", w.height, w.width,
         text_of(layer_.input));
  const std::uint64_t products =
      std::uint64_t{w.height} * w.width * (layer_.has_weights() ? layer_.weight_channels() : 1);
  if (products > kMostProducts)
    fail("sums {} products, allowed {}, so that i32 does not overflow", products, kMostProducts);
}

void NetworkBuilder::set_joined_shapes() {
  std::uint64_t channels = 0;
  for (const std::uint32_t number : layer_.inputs) {
    const Layer& from = network_.layers[number];
    const bool joined = layer_.op == Operator::concatenate;
    const bool agrees = joined ? from.output.height == layer_.input.height &&
                                     from.output.width == layer_.input.width
                               : from.output == layer_.input;
    if (!agrees)
      fail("uses '{}' of {} with '{}' of {}, allowed equal {}", from.name, text_of(from.output),
           network_.layers[layer_.inputs.front()].name, text_of(layer_.input),
           joined ? "heights and widths" : "shapes");
    if (joined && channels % kBlock != 0)
      fail("uses '{}' after {} channels, allowed multiples of {}", from.name, channels, kBlock);
    channels += from.output.channels;
  }
  if (layer_.op != Operator::concatenate) return;
  if (channels > kMostExtent) fail("has {} channels, allowed up to {}", channels, kMostExtent);
  layer_.input.channels = layer_.output.channels = static_cast<std::uint32_t>(channels);
}

void NetworkBuilder::require_sizes() const {
  const Shape& shape = layer_.output;
  const auto allowed = [](std::uint32_t extent) { return extent >= 1 && extent <= kMostExtent; };
  if (!allowed(shape.height) || !allowed(shape.width) || !allowed(shape.channels))
    fail("its output is {}, allowed extents from 1 to {}", text_of(shape), kMostExtent);
  if (shape.elements() > kMostElements)
    fail("its output of {} has {} elements, allowed {}", text_of(shape), shape.elements(),
         kMostElements);
}

Network NetworkBuilder::finish() {
  if (network_.layers.size() < 2)
    throw UserError("{}: found {} layers, allowed 2 or more: an input and a layer that uses it",
                    file_, network_.layers.size());
  std::vector<bool> taken(network_.layers.size());
  for (const Layer& layer : network_.layers)
    for (const std::uint32_t from : layer.inputs) taken[from] = true;
  taken.back() = true;
  if (const std::size_t lost = index_in(taken, false); lost < taken.size()) {
    layer_ = network_.layers[lost];
    fail("no layer uses its output, allowed only for the last one, '{}'",
         network_.layers.back().name);
  }
  return std::move(network_);
}

}  // namespace tessera::convnet
