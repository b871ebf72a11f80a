#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "kernels/convnet/onnx_layers.h"

namespace tessera::convnet {

namespace onnx {

void Layers::add_pool(const Node& node) {
  node.require_inputs(1, 1);
  Step step(node.type == "MaxPool" ? Operator::max_pool : Operator::average_pool);
  step.global = node.type == "GlobalAveragePool";
  if (!step.global) step.statement.window = node.window();
  step.auto_pad = node.auto_pad();
  const Window& w = step.statement.window;
  const bool padded = w.top + w.left + w.bottom + w.right > 0;
  step.counts_padding =
      step.statement.op == Operator::max_pool || node.integer("count_include_pad", 0) != 0;
  if (padded && !step.counts_padding)
    node.fail("count_include_pad: found 0 with padding, allowed 1");
  add_padding(node, step.statement.window);
  const std::size_t source = step_of(node, 0);
  if (uses_.at(node.input(0)) == 1 && !steps_[source].shared) step.source = source;
  push(node, std::move(step), 1);
}

void Layers::add_mean(const Node& node) {
  std::vector<double> axes = integers(node, "axes", 1);
  for (double& axis : axes) axis += axis < 0 ? 4 : 0;
  std::ranges::sort(axes);
  if (axes != std::vector<double>{2, 3})
    node.fail("axes: found {}, allowed 2, 3: all rows and columns", fmt::join(axes, ", "));
  Step step(Operator::average_pool);
  step.global = true;
  push(node, std::move(step), 1);
}

void Layers::add_sum(const Node& node) {
  node.require_inputs(2, 2);
  push(node, Step(Operator::add), 2);
}

void Layers::add_concatenation(const Node& node) {
  const std::int64_t axis = node.integer("axis", 0);
  if (axis != 1 && axis != -3) node.fail("axis: found {}, allowed 1: channels", axis);
  push(node, Step(Operator::concatenate), node.inputs.size());
}

void Layers::pass_on(const Node& node) {
  if (is_constant(node.input(0)))
    made_[node.outputs.front()] = any_constant(node, 0);
  else
    alias(node);
}

void Layers::pad(const Node& node) {
  const auto mode = node.attribute<std::string>("mode", &Attribute::text, "constant");
  if (mode != "constant") node.fail("mode: found {}, allowed constant", mode);
  if (!node.input(3).empty()) node.fail("found axes, allowed all dimensions");
  const bool zero = node.input(2).empty() || constant(node, 2).values.front() == 0;
  if (!zero || node.attribute("value", &Attribute::number, 0.0) != 0)
    node.fail("pads with other values than 0");
  const std::vector<double> pads = integers(node, "pads", 1);
  const auto allowed = [](double pad) { return pad >= 0 && pad <= kMostExtent; };
  if (pads.size() != 8 || !std::ranges::all_of(pads, allowed) || pads[0] != 0 || pads[1] != 0 ||
      pads[4] != 0 || pads[5] != 0)
    node.fail("pads: found {}, allowed 0, 0, top, left, 0, 0, bottom, right, up to {}",
              fmt::join(pads, ", "), kMostExtent);
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(pads[i]); };
  static_cast<void>(step_of(node, 0));
  padded_[node.outputs.front()] = {node.input(0), {at(2), at(3), at(6), at(7)}};
}

void Layers::add_padding(const Node& node, Window& window) const {
  const auto found = padded_.find(node.input(0));
  if (found == padded_.end()) return;
  const std::array<std::uint32_t, 4>& pads = found->second.pads;
  window.top += pads[0];
  window.left += pads[1];
  window.bottom += pads[2];
  window.right += pads[3];
}

Constant Layers::any_constant(const Node& node, std::size_t input) const {
  const std::string name = node.input(input);
  if (const auto found = made_.find(name); found != made_.end()) return found->second;
  const auto found = model_.initializers.find(name);
  if (found == model_.initializers.end())
    node.fail("uses '{}' as input {}, allowed a constant of the model", name, input);
  const Tensor& tensor = found->second;
  return {tensor.dims, tensor.type, values_of(tensor, file_)};
}

Constant Layers::constant(const Node& node, std::size_t input) const {
  Constant constant = any_constant(node, input);
  if (constant.type != Type::float32)
    node.fail("uses '{}' of {}, allowed float, or DequantizeLinear before it", node.input(input),
              text_of(constant.type));
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(constant.values, finite))
    node.fail("uses '{}', which has values that are not finite", node.input(input));
  return constant;
}

std::vector<double> Layers::integers(const Node& node, const std::string& key,
                                     std::size_t input) const {
  if (const auto found = node.attributes.find(key); found != node.attributes.end())
    return {found->second.integers.begin(), found->second.integers.end()};
  if (node.input(input).empty()) return {};
  const Constant constant = any_constant(node, input);
  if (constant.type != Type::int64)
    node.fail("uses '{}' of {}, allowed int64", node.input(input), text_of(constant.type));
  return constant.values;
}

/// The exponent of a QuantizeLinear's or DequantizeLinear's scale. Refuses other scales than a
/// power of two, and other zero points than 0 of int8 (DequantizeLinear: int32 too).
int Layers::exponent(const Node& node) const {
  node.require_inputs(2, 3);
  const Constant scale = constant(node, 1);
  const double first = scale.values.front();
  int exponent = 0;
  const bool power = first > 0 && std::frexp(first, &exponent) == 0.5;
  if (!power) node.fail("its scale is {}, allowed powers of two", first);
  if (std::ranges::any_of(scale.values, [&](double value) { return value != first; }))
    node.fail("its scales differ between channels, allowed one");
  require_zero_point(node);
  return exponent - 1;
}

void Layers::require_zero_point(const Node& node) const {
  const bool gives = node.type == "QuantizeLinear";
  constexpr auto kInt8 = static_cast<std::int64_t>(Type::int8);
  if (node.input(2).empty()) {
    if (gives && node.integer("output_dtype", 0) != kInt8)
      node.fail("has no zero point, which means uint8, allowed one of int8");
    return;
  }
  const auto found = model_.initializers.find(node.input(2));
  const bool known = found != model_.initializers.end();
  if (known && found->second.type != Type::int8 && (gives || found->second.type != Type::int32))
    node.fail("its zero point has type {}, allowed int8", text_of(found->second.type));
  const Constant zero = any_constant(node, 2);
  if (std::ranges::any_of(zero.values, [](double value) { return value != 0; }))
    node.fail("its zero point is {}, allowed 0", zero.values.front());
}

void Layers::scale_constant(const Node& node) {
  const bool quantises = node.type == "QuantizeLinear";
  Constant scaled = quantises ? constant(node, 0) : any_constant(node, 0);
  if (!quantises && scaled.type != Type::int8 && scaled.type != Type::int32)
    node.fail("uses '{}' of {}, allowed int8, int32", node.input(0), text_of(scaled.type));
  const int scale = exponent(node);
  for (double& value : scaled.values)
    value = quantises ? std::clamp(std::nearbyint(std::ldexp(value, -scale)), -128.0, 127.0)
                      : std::ldexp(value, scale);
  scaled.type = quantises ? Type::int8 : Type::float32;
  made_[node.outputs.front()] = std::move(scaled);
}

void Layers::quantise(const Node& node) {
  if (is_constant(node.input(0))) return scale_constant(node);
  const int exponent = this->exponent(node);
  LayerStatement& statement = steps_[step_of(node, 0)].statement;
  if (statement.fixed_exponent.value_or(exponent) != exponent)
    node.fail("its scale is 2^{}, but layer '{}' has another, 2^{}", exponent, statement.name,
              *statement.fixed_exponent);
  statement.fixed_exponent = exponent;
  alias(node);
}

void Layers::dequantise(const Node& node) {
  if (is_constant(node.input(0))) return scale_constant(node);
  const int exponent = this->exponent(node);
  const LayerStatement& statement = steps_[step_of(node, 0)].statement;
  if (statement.fixed_exponent != exponent)
    node.fail("its scale is 2^{}, allowed the scale of layer '{}'", exponent, statement.name);
  alias(node);
}

/// Adds padding so that the output's extent is ceil((input's extent + Pad's padding) / stride); an
/// odd zero goes after the input (`upper`) or before it.
void Layers::pad_same(const Shape& input, bool upper, Window& window) {
  const auto pads = [upper](std::uint32_t extent, std::uint32_t kernel, std::uint32_t stride) {
    const std::uint32_t covered = (ceil_div(extent, stride) - 1) * stride + kernel;
    const std::uint32_t all = covered - std::min(covered, extent);
    return upper ? std::pair{all / 2, all - all / 2} : std::pair{all - all / 2, all / 2};
  };
  const auto [top, bottom] =
      pads(input.height + window.top + window.bottom, window.height, window.stride_height);
  const auto [left, right] =
      pads(input.width + window.left + window.right, window.width, window.stride_width);
  window.top += top;
  window.bottom += bottom;
  window.left += left;
  window.right += right;
}

void Layers::complete(Step& step, const NetworkBuilder& builder) const {
  LayerStatement& statement = step.statement;
  if (statement.from.empty()) return;
  const Shape& input = builder.shape_of(statement.from.front());
  if (step.global) {
    statement.window.height = input.height;
    statement.window.width = input.width;
  }
  if (step.auto_pad == kSameUpper || step.auto_pad == kSameLower) {
    const Window given = statement.window;
    pad_same(input, step.auto_pad == kSameUpper, statement.window);
    if (!step.counts_padding && statement.window != given)
      throw UserError("{}: layer '{}': count_include_pad: found 0 with padding, allowed 1", file_,
                      statement.name);
  }
  if (step.weight_channels != 0 && step.weight_channels != input.channels)
    throw UserError("{}: layer '{}': its weights are for {} channels, but its input has {}", file_,
                    statement.name, step.weight_channels, text_of(input));
}

NetworkFile Layers::finish(const std::string& name) {
  NetworkBuilder builder(name, file_);
  NetworkFile result;
  for (Step& step : steps_) {
    complete(step, builder);
    builder.add(step.statement);
    result.weights.push_back(std::move(step.weights));
  }
  result.network = builder.finish();
  result.skipped = std::move(skipped_);
  return result;
}

}  // namespace onnx

NetworkFile parse_onnx(std::string_view bytes, const std::string& name, const std::string& file) {
  constexpr std::int64_t kFirstOpset = 9, kLastOpset = 21;
  const onnx::Model model = onnx::parse(bytes, file);
  if (model.opset < kFirstOpset || model.opset > kLastOpset)
    throw UserError("{}: found opset {}, allowed {} to {}", file, model.opset, kFirstOpset,
                    kLastOpset);
  onnx::Layers layers(model, file);
  for (const onnx::Node& node : model.nodes) layers.add(node);
  return layers.finish(name);
}

}  // namespace tessera::convnet
