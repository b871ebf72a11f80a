#pragma once

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/convnet/onnx.h"
#include "sim/data/random.h"
#include "tests/kernels/convnet/onnx_writer.h"
#include "tests/refusal.h"

/// Small ONNX models for tests, and what is said of them.
namespace tessera::test {

using convnet::onnx::Model;

using Names = std::vector<std::string>;

/// A node named as what it gives, with a letter before it.
inline Node node(const std::string& type, Names inputs, const std::string& output) {
  return {"n" + output, type, "", std::move(inputs), {output}, {}};
}
inline Attribute integers(std::vector<std::int64_t> values) {
  Attribute attribute;
  attribute.integers = std::move(values);
  return attribute;
}
inline Attribute integer(std::int64_t value) {
  Attribute attribute;
  attribute.integer = value;
  return attribute;
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
/// An image of 3 x 9 x 7 and one convolution of it, c, to 16 x 5 x 4.
inline Model base_model() {
  Model model;
  model.opset = 13;
  model.inputs = {{"x", Type::float32, {0, 3, 9, 7}}};
  add_floats(model, "w", {16, 3, 3, 3});
  add_floats(model, "b", {16});
  Node conv = node("Conv", {"x", "w", "b"}, "c");
  conv.attributes["strides"] = integers({2, 2});
  conv.attributes["pads"] = integers({1, 1, 1, 1});
  model.nodes = {conv};
  return model;
}
inline Model with(Model model, const Node& last) {
  model.nodes.push_back(last);
  return model;
}
inline convnet::NetworkFile read_model(const Model& model) {
  return convnet::parse_onnx(test::encoded(model), "mine", "mine.onnx");
}
/// What is said of a model behind the name of its file.
inline std::string message_of(const std::string& bytes) {
  constexpr std::string_view kFile = "mine.onnx: ";
  const std::string said =
      test::refusal([&] { return convnet::parse_onnx(bytes, "mine", "mine.onnx"); });
  CHECK((said.empty() || said.starts_with(kFile)));
  return said.empty() ? said : said.substr(kFile.size());
}
inline std::string message(const Model& model) { return message_of(test::encoded(model)); }

}  // namespace tessera::test
