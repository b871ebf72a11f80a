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

/// A tensor of numbers that the model holds.
struct Constant {
  std::vector<std::int64_t> dims;
  Type type = Type::float32;
  std::vector<double> values;
};

/// Makes layers of a model's nodes, one after the other.
class Layers {
 public:
  Layers(const Model& model, const std::string& file);

  void add(const Node& node);
  /// The network of all nodes.
  NetworkFile finish(const std::string& name);

 private:
  /// A layer and what of it the shapes alone can check or complete.
  struct Step {
    explicit Step(Operator op) { statement.op = op; }
    LayerStatement statement;
    RealWeights weights;
    std::uint32_t weight_channels = 0;  ///< convolution: input channels by its weights
    bool global = false;                ///< its window is its whole input
    std::string auto_pad{};             ///< padding that its input's extents decide
    bool counts_padding = true;         ///< pool: zeros count in the mean
    bool shared = false;  ///< something takes it as it was before the next node's change
    std::optional<std::size_t> source = {};  ///< the step of a pool's input that it alone takes
  };
  using Handlers = std::map<std::string, void (Layers::*)(const Node& node)>;
  static const Handlers& handlers();

  void add_input();
  void add_convolution(const Node& node);
  void normalise(const Node& node);
  /// The layer that a normalisation of so many channels changes: the convolution before it, or one
  /// of its own.
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

  /// Zeros around what a Pad gives, which become the padding of the layer that takes it.
  struct Padded {
    std::string from;
    std::array<std::uint32_t, 4> pads;  ///< top, left, bottom, right
  };
  /// Adds the padding of the node's first input, if it is that of a Pad.
  void add_padding(const Node& node, Window& window) const;

  // For tensors of numbers that the model holds, or that nodes make of such:
  [[nodiscard]] bool is_constant(const std::string& name) const {
    return made_.contains(name) || model_.initializers.contains(name);
  }
  [[nodiscard]] Constant any_constant(const Node& node, std::size_t input) const;
  [[nodiscard]] Constant constant(const Node& node, std::size_t input) const;  ///< float only
  /// An attribute's integers; those of an input in later opsets; none if neither is given.
  [[nodiscard]] std::vector<double> integers(const Node& node, const std::string& key,
                                             std::size_t input) const;
  [[nodiscard]] int exponent(const Node& node) const;
  void require_zero_point(const Node& node) const;
  /// Rounds numbers to int8 by a QuantizeLinear's scale, or multiplies them by the other's.
  void scale_constant(const Node& node);

  /// True if the node takes what a layer behind the last one gives; then it is skipped.
  bool add_to_tail(const Node& node);
  /// Throws unless a layer gives the node's input.
  [[nodiscard]] std::size_t step_of(const Node& node, std::size_t input) const;
  [[noreturn]] void fail_unknown(const Node& node, const std::string& tensor) const;
  /// The layer of the first input, of which the node becomes a part: nothing else may take it.
  Step& changed(const Node& node);
  /// The node's output is that of the layer of its first input.
  void alias(const Node& node);
  void push(const Node& node, Step step, std::size_t inputs);
  [[nodiscard]] std::string layer_name(const Node& node) const;
  static void pad_same(const Shape& input, bool upper, Window& window);
  void complete(Step& step, const NetworkBuilder& builder) const;

  const Model& model_;
  const std::string& file_;
  std::map<std::string, Constant> made_;
  std::vector<Step> steps_;
  std::map<std::string, std::size_t> given_;   ///< the step of a tensor
  std::map<std::string, Padded> padded_;       ///< by what a Pad gives
  std::map<std::string, bool> tail_;           ///< tensors behind the last layer
  std::map<std::string, std::string> givers_;  ///< nodes by what they give
  std::map<std::string, std::uint32_t> uses_;  ///< how many inputs and outputs name a tensor
  std::vector<std::string> skipped_;
};

}  // namespace tessera::convnet::onnx
