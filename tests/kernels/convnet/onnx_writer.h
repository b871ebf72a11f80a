#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/convnet/onnx_file.h"

/// ONNX models as bytes, for tests: protobuf's encoding of what the reader reads.
namespace tessera::test {

using convnet::onnx::Attribute;
using convnet::onnx::Input;
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

/// The values of `floats` and `integers` as raw bytes of the tensor's type.
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

inline std::string encoded(const convnet::onnx::Model& model) {
  std::string graph;
  for (const Node& node : model.nodes) graph += field(1, encoded(node));
  for (const auto& [name, tensor] : model.initializers) graph += field(5, encoded(tensor));
  for (const Input& input : model.inputs) graph += field(11, encoded(input));
  for (const std::string& output : model.outputs) graph += field(12, field(1, output));
  return field(1, std::int64_t{8}) + field(2, "tests") + field(7, graph) +
         field(8, field(1, "") + field(2, model.opset));
}

}  // namespace tessera::test
