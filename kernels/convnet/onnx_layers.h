#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/convnet/network_builder.h"
#include "kernels/convnet/network_file.h"
#include "kernels/convnet/onnx_file.h"

namespace tessera::convnet::onnx {

/// A constant tensor of the model.
struct Constant {
  std::vector<std::int64_t> dims;
  Type type = Type::float32;
  std::vector<double> values;
};

/// Builds layers from a model's nodes in order.
class Layers {
 public:
  Layers(const Model& model, const std::string& file);

  void add(const Node& node);
  /// The network of all nodes.
  NetworkFile finish(const std::string& name);

 private:
  /// A layer, and its properties that only shapes can check or complete.
  struct Step {
    explicit Step(Operator op) { statement.op = op; }
    LayerStatement statement;
    RealWeights weights;
    std::uint32_t weight_channels = 0;  ///< convolution: input channels of its weights
    bool global = false;                ///< its window is its whole input
    std::string auto_pad{};             ///< automatic padding, which depends on the input's extents
    bool counts_padding = true;         ///< pool: zeros count in the mean
    bool shared = false;                ///< its output is used before the next node's change
    std::optional<std::size_t> source = {};  ///< a pool's only-used input
  };
  using Handlers = std::map<std::string, void (Layers::*)(const Node& node)>;
  static const Handlers& handlers();

  void add_input();
  void add_convolution(const Node& node);
  void normalise(const Node& node);
  /// The layer that a normalisation of `channels` channels changes: the convolution before it, or a
  /// new layer.
  Step& normalised(const Node& node, std::size_t channels);
  void clip(const Node& node);
  void fuse_relu(const Node& node);
  void add_pool(const Node& node);
  void add_mean(const Node& node);
  void add_sum(const Node& node);
  void add_concatenation(const Node& node);
  void quantise(const Node& node);
  void dequantise(const Node& node);
  void pass_on(const Node& node);
  void pad(const Node& node);
  void begin_tail(const Node& node);

  /// Padding by a Pad node, which becomes the padding of the next layer.
  struct Padded {
    std::string from;
    std::array<std::uint32_t, 4> pads;  ///< top, left, bottom, right
  };
  /// Adds the padding of a Pad node to the node's window, if its first input has one.
  void add_padding(const Node& node, Window& window) const;

  // For constant tensors of the model, and tensors computed from them:
  [[nodiscard]] bool is_constant(const std::string& name) const {
    return made_.contains(name) || model_.initializers.contains(name);
  }
  [[nodiscard]] Constant any_constant(const Node& node, std::size_t input) const;
  [[nodiscard]] Constant constant(const Node& node, std::size_t input) const;  ///< float only
  /// Integers of an attribute or, in later opsets, of an input; empty if neither is given.
  [[nodiscard]] std::vector<double> integers(const Node& node, const std::string& key,
                                             std::size_t input) const;
  [[nodiscard]] int exponent(const Node& node) const;
  void require_zero_point(const Node& node) const;
  /// Rounds a constant to int8 with a QuantizeLinear's scale, or multiplies it by a
  /// DequantizeLinear's.
  void scale_constant(const Node& node);

  /// True if the node uses the output of a node after the last layer; then it is skipped.
  bool add_to_tail(const Node& node);
  /// The step that computes the node's input; throws if no layer does.
  [[nodiscard]] std::size_t step_of(const Node& node, std::size_t input) const;
  [[noreturn]] void fail_unknown(const Node& node, const std::string& tensor) const;
  /// The layer of the first input, into which the node is fused: no other node may use it.
  Step& changed(const Node& node);
  /// Makes the node's output an alias of its first input's layer.
  void alias(const Node& node);
  void push(const Node& node, Step step, std::size_t inputs);
  [[nodiscard]] std::string layer_name(const Node& node) const;
  static void pad_same(const Shape& input, bool upper, Window& window);
  void complete(Step& step, const NetworkBuilder& builder) const;

  const Model& model_;
  const std::string& file_;
  std::map<std::string, Constant> made_;
  std::vector<Step> steps_;
  std::map<std::string, std::size_t> given_;   ///< step that computes each tensor
  std::map<std::string, Padded> padded_;       ///< by output of a Pad
  std::map<std::string, bool> tail_;           ///< tensors after the last layer
  std::map<std::string, std::string> givers_;  ///< nodes by output
  std::map<std::string, std::uint32_t> uses_;  ///< number of inputs and outputs that name a tensor
  std::vector<std::string> skipped_;
};

}  // namespace tessera::convnet::onnx
