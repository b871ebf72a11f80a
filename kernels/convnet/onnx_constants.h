#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/convnet/onnx_file.h"
#include "kernels/convnet/onnx_node.h"

namespace tessera::convnet::onnx {

/// A tensor of numbers that the model holds.
struct Constant {
  std::vector<std::int64_t> dims;
  Type type = Type::float32;
  std::vector<double> values;
};

/// The numbers of a model and what is made of them without an image.
class Constants {
 public:
  Constants(const Model& model, const std::string& file) : model_(model), file_(file) {}

  [[nodiscard]] bool has(const std::string& name) const {
    return made_.contains(name) || model_.initializers.contains(name);
  }
  /// Input `number` of the node, which must be such a tensor of float.
  [[nodiscard]] Constant of(const NodeReader& reader, std::size_t number) const;

  /// Input `number` of the node, which must be such a tensor of int64.
  [[nodiscard]] std::vector<double> integers(const NodeReader& reader, std::size_t number) const;

  /// The exponent of a QuantizeLinear's or DequantizeLinear's scale. Refuses other scales than a
  /// power of two, and other zero points than 0 of int8 (DequantizeLinear: int32 too).
  [[nodiscard]] int exponent(const NodeReader& reader) const;
  /// Adds what such a node makes of a constant.
  void quantise(const NodeReader& reader);
  void dequantise(const NodeReader& reader);

 private:
  [[nodiscard]] Constant get(const NodeReader& reader, std::size_t number) const;
  void require_zero_point(const NodeReader& reader) const;

  const Model& model_;
  const std::string& file_;
  std::map<std::string, Constant> made_;
};

}  // namespace tessera::convnet::onnx
