#include <algorithm>
#include <cmath>

#include "kernels/convnet/onnx_layers.h"

namespace tessera::convnet::onnx {

Constant Layers::any_constant(const Node& node, std::size_t input) const {
  const std::string name = node.input(input);
  if (const auto found = made_.find(name); found != made_.end()) return found->second;
  const auto found = model_.initializers.find(name);
  if (found == model_.initializers.end())
    node.fail("takes '{}' as input {}, allowed a tensor of numbers in the model", name, input);
  const Tensor& tensor = found->second;
  return {tensor.dims, tensor.type, values_of(tensor, file_)};
}

Constant Layers::constant(const Node& node, std::size_t input) const {
  Constant constant = any_constant(node, input);
  if (constant.type != Type::float32)
    node.fail("takes '{}' of {}, allowed float, or DequantizeLinear before it", node.input(input),
              text_of(constant.type));
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(constant.values, finite))
    node.fail("takes '{}', in which there are values that are not finite", node.input(input));
  return constant;
}

std::vector<double> Layers::integers(const Node& node, std::size_t input) const {
  const Constant constant = any_constant(node, input);
  if (constant.type != Type::int64)
    node.fail("takes '{}' of {}, allowed int64", node.input(input), text_of(constant.type));
  return constant.values;
}

/// Of a QuantizeLinear's or DequantizeLinear's scale. Refuses other scales than a power of two, and
/// other zero points than 0 of int8 (DequantizeLinear: int32 too).
int Layers::exponent(const Node& node) const {
  node.require_inputs(2, 3);
  const Constant scale = constant(node, 1);
  const double first = scale.values.front();
  int exponent = 0;
  const bool power = first > 0 && std::frexp(first, &exponent) == 0.5;
  if (!power) node.fail("its scale is {}, allowed powers of two", first);
  if (std::ranges::any_of(scale.values, [&](double value) { return value != first; }))
    node.fail("its scales differ from channel to channel, allowed one");
  require_zero_point(node);
  return exponent - 1;
}

void Layers::require_zero_point(const Node& node) const {
  const bool gives = node.type == "QuantizeLinear";
  constexpr auto kInt8 = static_cast<std::int64_t>(Type::int8);
  if (node.input(2).empty()) {
    if (gives && node.integer("output_dtype", 0) != kInt8)
      node.fail("has no zero point and makes uint8 therefore, allowed one of int8");
    return;
  }
  const auto found = model_.initializers.find(node.input(2));
  const bool known = found != model_.initializers.end();
  if (known && found->second.type != Type::int8 && (gives || found->second.type != Type::int32))
    node.fail("its zero point is of {}, allowed int8", text_of(found->second.type));
  const Constant zero = any_constant(node, 2);
  if (std::ranges::any_of(zero.values, [](double value) { return value != 0; }))
    node.fail("its zero point is {}, allowed 0", zero.values.front());
}

void Layers::quantise_constant(const Node& node) {
  Constant constant = this->constant(node, 0);
  const int scale = exponent(node);
  for (double& value : constant.values)
    value = std::clamp(std::nearbyint(std::ldexp(value, -scale)), -128.0, 127.0);
  constant.type = Type::int8;
  made_[node.outputs.front()] = std::move(constant);
}

void Layers::dequantise_constant(const Node& node) {
  Constant constant = any_constant(node, 0);
  if (constant.type != Type::int8 && constant.type != Type::int32)
    node.fail("takes '{}' of {}, allowed int8, int32", node.input(0), text_of(constant.type));
  const int scale = exponent(node);
  for (double& value : constant.values) value = std::ldexp(value, scale);
  constant.type = Type::float32;
  made_[node.outputs.front()] = std::move(constant);
}

}  // namespace tessera::convnet::onnx
