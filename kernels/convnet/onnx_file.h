#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/convnet/network.h"
#include "sim/base/errors.h"

/// The parts of an ONNX model (github.com/onnx/onnx, onnx.proto) from which a network is built.
/// Leaves out: documentation, metadata, shapes inside the graph, functions, graphs inside
/// attributes.
namespace tessera::convnet::onnx {

/// Element types, with the numbers of onnx.proto.
enum class Type : std::int64_t { float32 = 1, uint8 = 2, int8 = 3, int32 = 6, int64 = 7 };
/// "float", "int8"; for other types the number.
std::string text_of(Type type);

struct Tensor {
  std::string name;
  std::vector<std::int64_t> dims;
  Type type = Type::float32;
  bool external = false;  ///< its values are in another file
  std::string_view raw;   ///< little-endian; a view of the parsed bytes
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
};

struct Attribute {
  float number = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<Tensor> tensors;  ///< none or one
};

/// Values of auto_pad that put an odd zero after the input, or before it.
constexpr std::string_view kSameUpper = "SAME_UPPER", kSameLower = "SAME_LOWER";

struct Node {
  std::string name;
  std::string type;    ///< Conv, Relu, ...
  std::string domain;  ///< empty or ai.onnx: the standard domain
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> attributes;
  std::string file = {};  ///< name of the model's file, for messages

  /// Its name or, if empty, that of its first output.
  [[nodiscard]] std::string shown_name() const {
    return name.empty() && !outputs.empty() ? outputs.front() : name;
  }
  /// Input `number`; empty if not given.
  [[nodiscard]] std::string input(std::size_t number) const {
    return number < inputs.size() ? inputs[number] : std::string();
  }
  void require_inputs(std::size_t least, std::size_t most) const {
    if (inputs.size() < least || inputs.size() > most)
      fail("found {} inputs, allowed {} to {}", inputs.size(), least, most);
  }
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError("{}: node '{}' ({}): {}", file, shown_name(), type,
                    fmt::format(problem, std::forward<Args>(args)...));
  }

  // Attributes as used by layers (onnx_node.cpp):
  template <class Result, class Value>
  [[nodiscard]] Result attribute(const std::string& key, Value Attribute::*value,
                                 Result otherwise) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? otherwise : Result(found->second.*value);
  }
  [[nodiscard]] std::int64_t integer(const std::string& key, std::int64_t otherwise) const {
    return attribute(key, &Attribute::integer, otherwise);
  }
  /// `count` integers, each from `least` to kMostExtent; each is `otherwise` if not given.
  [[nodiscard]] std::vector<std::uint32_t> integers(const std::string& key, std::size_t count,
                                                    std::int64_t least,
                                                    std::int64_t otherwise) const;
  [[nodiscard]] std::uint32_t extent(const char* key, std::int64_t value, std::int64_t least) const;
  [[nodiscard]] std::string auto_pad() const {
    return attribute<std::string>("auto_pad", &Attribute::text, "NOTSET");
  }
  /// Strides, padding and, unless `shape` is given (a Conv's weights), kernel_shape. Refuses
  /// dilation and ceil_mode.
  [[nodiscard]] Window window(
      const std::optional<std::pair<std::int64_t, std::int64_t>>& shape = {}) const;
};

/// A graph's input; symbolic extents are 0.
struct Input {
  std::string name;
  Type type = Type::float32;
  std::vector<std::int64_t> dims;
};

struct Model {
  std::int64_t opset = 0;  ///< version of the standard domain
  std::vector<Node> nodes;
  std::map<std::string, Tensor> initializers;  ///< including the values of Constant nodes
  std::vector<Input> inputs;                   ///< including those with initializers
  std::vector<std::string> outputs;
};

/// Parses a model; `bytes` must outlive it. Throws UserError naming `file` if it is not a model.
Model parse(std::string_view bytes, const std::string& file);

/// The values of a tensor of float, int8, int32 or int64. Throws UserError naming `file` and the
/// tensor for another type, a number of values that does not match its extents, or values in
/// another file.
std::vector<double> values_of(const Tensor& tensor, const std::string& file);

}  // namespace tessera::convnet::onnx
