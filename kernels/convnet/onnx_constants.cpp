#include <algorithm>
#include <cmath>

#include "kernels/convnet/onnx_layers.h"

namespace tessera::convnet::onnx {

Constant Layers::any_constant(const NodeReader& reader, std::size_t input) const {
  const std::string name = reader.input(input);
  if (const auto found = made_.find(name); found != made_.end()) return found->second;
  const auto found = model_.initializers.find(name);
  if (found == model_.initializers.end())
    reader.fail("takes '{}' as input {}, allowed a tensor of numbers in the model", name, input);
  const Tensor& tensor = found->second;
  return {tensor.dims, tensor.type, values_of(tensor, file_)};
}

Constant Layers::constant(const NodeReader& reader, std::size_t input) const {
  Constant constant = any_constant(reader, input);
  if (constant.type != Type::float32)
    reader.fail("takes '{}' of {}, allowed float, or DequantizeLinear before it",
                reader.input(input), text_of(constant.type));
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(constant.values, finite))
    reader.fail("takes '{}', in which there are values that are not finite", reader.input(input));
  return constant;
}

std::vector<double> Layers::integers(const NodeReader& reader, std::size_t input) const {
  const Constant constant = any_constant(reader, input);
  if (constant.type != Type::int64)
    reader.fail("takes '{}' of {}, allowed int64", reader.input(input), text_of(constant.type));
  return constant.values;
}

/// Of a QuantizeLinear's or DequantizeLinear's scale. Refuses other scales than a power of two, and
/// other zero points than 0 of int8 (DequantizeLinear: int32 too).
int Layers::exponent(const NodeReader& reader) const {
  reader.require_inputs(2, 3);
  const Constant scale = constant(reader, 1);
  const double first = scale.values.front();
  int exponent = 0;
  const bool power = first > 0 && std::frexp(first, &exponent) == 0.5;
  if (!power) reader.fail("its scale is {}, allowed powers of two", first);
  if (std::ranges::any_of(scale.values, [&](double value) { return value != first; }))
    reader.fail("its scales differ from channel to channel, allowed one");
  require_zero_point(reader);
  return exponent - 1;
}

void Layers::require_zero_point(const NodeReader& reader) const {
  const bool gives = reader.type() == "QuantizeLinear";
  constexpr auto kInt8 = static_cast<std::int64_t>(Type::int8);
  if (reader.input(2).empty()) {
    if (gives && reader.integer("output_dtype", 0) != kInt8)
      reader.fail("has no zero point and makes uint8 therefore, allowed one of int8");
    return;
  }
  const auto found = model_.initializers.find(reader.input(2));
  const bool known = found != model_.initializers.end();
  if (known && found->second.type != Type::int8 && (gives || found->second.type != Type::int32))
    reader.fail("its zero point is of {}, allowed int8", text_of(found->second.type));
  const Constant zero = any_constant(reader, 2);
  if (std::ranges::any_of(zero.values, [](double value) { return value != 0; }))
    reader.fail("its zero point is {}, allowed 0", zero.values.front());
}

void Layers::quantise_constant(const NodeReader& reader) {
  Constant constant = this->constant(reader, 0);
  const int scale = exponent(reader);
  for (double& value : constant.values)
    value = std::clamp(std::nearbyint(std::ldexp(value, -scale)), -128.0, 127.0);
  constant.type = Type::int8;
  made_[reader.node().outputs.front()] = std::move(constant);
}

void Layers::dequantise_constant(const NodeReader& reader) {
  Constant constant = any_constant(reader, 0);
  if (constant.type != Type::int8 && constant.type != Type::int32)
    reader.fail("takes '{}' of {}, allowed int8, int32", reader.input(0), text_of(constant.type));
  const int scale = exponent(reader);
  for (double& value : constant.values) value = std::ldexp(value, scale);
  constant.type = Type::float32;
  made_[reader.node().outputs.front()] = std::move(constant);
}

}  // namespace tessera::convnet::onnx
