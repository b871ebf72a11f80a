#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/convnet/network_file.h"
#include "kernels/convnet/onnx_file.h"
#include "sim/data/random.h"
#include "tests/refusal.h"

/// Small ONNX models for tests, as protobuf bytes, and the parser's messages about them.
namespace tessera::test {

using convnet::onnx::Attribute;
using convnet::onnx::Input;
using convnet::onnx::Model;
using convnet::onnx::Node;
using convnet::onnx::Tensor;
using convnet::onnx::Type;

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string field(std::uint64_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}
inline std::string field(std::uint64_t number, std::int64_t value) {
  return varint(number << 3) + varint(static_cast<std::uint64_t>(value));
}
inline std::string fixed(std::uint64_t number, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::string bytes = varint(number << 3 | 5);
  for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
  return bytes;
}
inline std::string packed(std::uint64_t number, const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t value : values) bytes += varint(static_cast<std::uint64_t>(value));
  return field(number, bytes);
}

/// Encodes a tensor; `floats` and `integers` become raw bytes of its type.
inline std::string encoded(const Tensor& tensor) {
  std::string bytes;
  for (const std::int64_t extent : tensor.dims) bytes += field(1, extent);
  bytes += field(2, static_cast<std::int64_t>(tensor.type)) + field(8, tensor.name);
  std::string raw;
  for (const float value : tensor.floats) raw += fixed(0, value).substr(1);
  const std::size_t size = tensor.type == Type::int8 ? 1 : tensor.type == Type::int64 ? 8 : 4;
  for (const std::int64_t value : tensor.integers)
    for (std::size_t i = 0; i < size; ++i) raw += static_cast<char>(value >> (8 * i));
  return bytes + field(9, raw);
}

inline std::string encoded(const Node& node) {
  std::string bytes;
  for (const std::string& input : node.inputs) bytes += field(1, input);
  for (const std::string& output : node.outputs) bytes += field(2, output);
  bytes += field(3, node.name) + field(4, node.type) + field(7, node.domain);
  for (const auto& [name, attribute] : node.attributes) {
    std::string inner = field(1, name) + fixed(2, attribute.number) + field(3, attribute.integer) +
                        field(4, attribute.text) + packed(8, attribute.integers);
    for (const Tensor& tensor : attribute.tensors) inner += field(5, encoded(tensor));
    bytes += field(5, inner);
  }
  return bytes;
}

inline std::string encoded(const Input& input) {
  std::string shape;
  for (const std::int64_t extent : input.dims)
    shape += field(1, extent > 0 ? field(1, extent) : field(2, "batch"));
  const std::string type = field(1, static_cast<std::int64_t>(input.type)) + field(2, shape);
  return field(1, input.name) + field(2, field(1, type));
}

inline std::string encoded(const Model& model) {
  std::string graph;
  for (const Node& node : model.nodes) graph += field(1, encoded(node));
  for (const auto& [name, tensor] : model.initializers) graph += field(5, encoded(tensor));
  for (const Input& input : model.inputs) graph += field(11, encoded(input));
  for (const std::string& output : model.outputs) graph += field(12, field(1, output));
  return field(1, std::int64_t{8}) + field(2, "tests") + field(7, graph) +
         field(8, field(1, "") + field(2, model.opset));
}

using Names = std::vector<std::string>;

inline Attribute integers(std::vector<std::int64_t> values) {
  return {.integers = std::move(values)};
}
inline Attribute integer(std::int64_t value) { return {.integer = value}; }
/// A node named after its output, with the prefix "n".
inline Node node(const std::string& type, Names inputs, const std::string& output,
                 const std::map<std::string, Attribute>& attributes = {}) {
  Node made{"n" + output, type, "", std::move(inputs), {output}, {}};
  for (const auto& [name, attribute] : attributes) made.attributes[name] = attribute;
  return made;
}
inline std::size_t elements(const std::vector<std::int64_t>& dims) {
  std::size_t count = 1;
  for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
  return count;
}
inline void add_floats(Model& model, const std::string& name, std::vector<std::int64_t> dims,
                       float bias = 0) {
  Tensor tensor{name, std::move(dims), Type::float32, false, {}, {}, {}};
  for (std::size_t i = 0; i < elements(tensor.dims); ++i)
    tensor.floats.push_back(bias + data::random_signed(3, model.initializers.size(), i));
  model.initializers[name] = tensor;
}
inline void add_scalar(Model& model, const std::string& name, float value) {
  model.initializers[name] = {name, {}, Type::float32, false, {}, {value}, {}};
}
inline void add_int8(Model& model, const std::string& name, std::vector<std::int64_t> dims) {
  Tensor tensor{name, std::move(dims), Type::int8, false, {}, {}, {}};
  for (std::size_t i = 0; i < elements(tensor.dims); ++i)
    tensor.integers.push_back(static_cast<std::int64_t>(data::random_below(3, 9, i, 200)) - 100);
  model.initializers[name] = tensor;
}
/// A 3 x 9 x 7 image and one convolution c with a 16 x 5 x 4 output.
inline Model base_model() {
  Model model{.opset = 13, .inputs = {{"x", Type::float32, {0, 3, 9, 7}}}};
  add_floats(model, "w", {16, 3, 3, 3});
  add_floats(model, "b", {16});
  model.nodes = {node("Conv", {"x", "w", "b"}, "c",
                      {{"strides", integers({2, 2})}, {"pads", integers({1, 1, 1, 1})}})};
  return model;
}
inline Model with(Model model, const Node& last) {
  model.nodes.push_back(last);
  return model;
}
inline convnet::NetworkFile read_model(const Model& model) {
  return convnet::parse_onnx(test::encoded(model), "mine", "mine.onnx");
}
/// The parser's error message without the file name in front; empty: no error.
inline std::string message_of(const std::string& bytes) {
  constexpr std::string_view kFile = "mine.onnx: ";
  const std::string said =
      test::refusal([&] { return convnet::parse_onnx(bytes, "mine", "mine.onnx"); });
  CHECK((said.empty() || said.starts_with(kFile)));
  return said.empty() ? said : said.substr(kFile.size());
}
inline std::string message(const Model& model) { return message_of(test::encoded(model)); }

}  // namespace tessera::test
