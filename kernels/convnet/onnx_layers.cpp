#include "kernels/convnet/onnx_layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "sim/base/ranges.h"
#include "sim/config/nearest.h"

namespace tessera::convnet::onnx {

namespace {

constexpr std::string_view kTailOperators[] = {"Add",      "BatchNormalization",
                                               "Cast",     "Clip",
                                               "Concat",   "DequantizeLinear",
                                               "Dropout",  "Flatten",
                                               "Gather",   "Gemm",
                                               "Identity", "LogSoftmax",
                                               "MatMul",   "QuantizeLinear",
                                               "Relu",     "Reshape",
                                               "Shape",    "Sigmoid",
                                               "Softmax",  "Squeeze",
                                               "Tanh",     "Unsqueeze"};

}  // namespace

Layers::Layers(const Model& model, const std::string& file) : model_(model), file_(file) {
  for (const Node& node : model.nodes) {
    for (const std::string& input : node.inputs) ++uses_[input];
    for (const std::string& output : node.outputs) givers_.emplace(output, node.shown_name());
  }
  for (const std::string& output : model.outputs) ++uses_[output];
  add_input();
}

void Layers::add_input() {
  const auto fail = [&](const std::string& problem) { throw UserError("{}: {}", file_, problem); };
  std::vector<const Input*> images;
  for (const Input& input : model_.inputs)
    if (!model_.initializers.contains(input.name)) images.push_back(&input);
  if (images.size() != 1)
    fail(fmt::format("found {} inputs without values in the file, allowed 1: the image",
                     images.size()));
  const Input& image = *images.front();
  const auto allowed = [](std::int64_t extent) { return extent >= 1 && extent <= kMostExtent; };
  const std::vector<std::int64_t>& dims = image.dims;
  if (image.type != Type::float32 || dims.size() != 4 || dims[0] < 0 || dims[0] > 1 ||
      !std::all_of(dims.begin() + 1, dims.end(), allowed))
    fail(fmt::format(
        "input '{}': found {} of {} extents ({}; 0: no number), allowed float of 1 x "
        "channels x height x width, each up to {}",
        image.name, text_of(image.type), dims.size(), fmt::join(dims, " x "), kMostExtent));
  Step step(Operator::input);
  step.statement.name = image.name;
  step.statement.output = {static_cast<std::uint32_t>(dims[2]), static_cast<std::uint32_t>(dims[3]),
                           static_cast<std::uint32_t>(dims[1])};
  steps_.push_back(std::move(step));
  given_[image.name] = 0;
}

const Layers::Handlers& Layers::handlers() {
  static const Handlers kHandlers = {{"Add", &Layers::add_sum},
                                     {"AveragePool", &Layers::add_pool},
                                     {"BatchNormalization", &Layers::normalise},
                                     {"Clip", &Layers::clip},
                                     {"Concat", &Layers::add_concatenation},
                                     {"Conv", &Layers::add_convolution},
                                     {"DequantizeLinear", &Layers::dequantise},
                                     {"Dropout", &Layers::pass_on},
                                     {"Flatten", &Layers::begin_tail},
                                     {"Gemm", &Layers::begin_tail},
                                     {"GlobalAveragePool", &Layers::add_pool},
                                     {"Identity", &Layers::pass_on},
                                     {"MatMul", &Layers::begin_tail},
                                     {"MaxPool", &Layers::add_pool},
                                     {"Pad", &Layers::pad},
                                     {"QuantizeLinear", &Layers::quantise},
                                     {"ReduceMean", &Layers::add_mean},
                                     {"Relu", &Layers::fuse_relu},
                                     {"Reshape", &Layers::begin_tail},
                                     {"Shape", &Layers::begin_tail},
                                     {"Squeeze", &Layers::begin_tail}};
  return kHandlers;
}

void Layers::add(const Node& node) {
  if (node.outputs.empty() || node.inputs.empty()) node.fail("has no inputs or no outputs");
  for (const std::string& output : node.outputs)
    if (given_.contains(output) || padded_.contains(output) || tail_.contains(output) ||
        is_constant(output))
      node.fail("outputs '{}', which is defined before", output);
  if (add_to_tail(node)) return;
  const auto handler = handlers().find(node.type);
  if (handler == handlers().end() || (!node.domain.empty() && node.domain != "ai.onnx")) {
    if (std::ranges::all_of(node.inputs, [&](const auto& input) { return is_constant(input); }))
      node.fail("computes constants from the model's constants, allowed their result: {}",
                "fold constants when the model is exported, or afterwards (onnxsim)");
    node.fail("found an unknown operator, allowed {}",
              config::names_near(node.type, mapped(handlers(), &Handlers::value_type::first)));
  }
  (this->*handler->second)(node);
}

bool Layers::add_to_tail(const Node& node) {
  const std::vector<std::string>& inputs = node.inputs;
  const auto in_tail = [&](const std::string& input) { return tail_.contains(input); };
  if (!std::ranges::any_of(inputs, in_tail)) return false;
  if (!contains(kTailOperators, node.type))
    node.fail("follows fully connected layers or a change of shape, which are left out: allowed {}",
              config::list_of(kTailOperators));
  begin_tail(node);
  return true;
}

void Layers::begin_tail(const Node& node) {
  for (const std::string& input : node.inputs)
    if (!input.empty() && !tail_.contains(input) && !given_.contains(input) && !is_constant(input))
      fail_unknown(node, input);
  for (const std::string& output : node.outputs) tail_[output] = true;
  skipped_.push_back(node.shown_name());
}

void Layers::fail_unknown(const Node& node, const std::string& tensor) const {
  if (const auto giver = givers_.find(tensor); giver != givers_.end())
    node.fail(
        "uses '{}', which node '{}' computes later: nodes must be in order of execution, without "
        "cycles",
        tensor, giver->second);
  node.fail("uses '{}', which nothing computes", tensor);
}

std::size_t Layers::step_of(const Node& node, std::size_t input) const {
  std::string tensor = node.input(input);
  if (const auto padded = padded_.find(tensor); padded != padded_.end()) {
    if (node.type != "Conv" && node.type != "AveragePool")
      node.fail("uses the output of a Pad, allowed for Conv, AveragePool");
    tensor = padded->second.from;
  }
  if (const auto found = given_.find(tensor); found != given_.end()) return found->second;
  if (is_constant(tensor))
    node.fail("uses the constant '{}' of the model, allowed outputs of other nodes", tensor);
  fail_unknown(node, tensor);
}

Layers::Step& Layers::changed(const Node& node) {
  Step& step = steps_[step_of(node, 0)];
  if (step.shared || uses_.at(node.input(0)) != 1)
    node.fail("uses '{}', which other nodes use too, allowed only this one", node.input(0));
  return step;
}

void Layers::alias(const Node& node) {
  const std::size_t number = step_of(node, 0);
  if (uses_.at(node.input(0)) != 1) steps_[number].shared = true;
  given_[node.outputs.front()] = number;
}

std::string Layers::layer_name(const Node& node) const {
  const auto taken = [&](const Step& step) { return step.statement.name == node.shown_name(); };
  return std::ranges::any_of(steps_, taken) ? node.outputs.front() : node.shown_name();
}

void Layers::push(const Node& node, Step step, std::size_t inputs) {
  step.statement.name = layer_name(node);
  for (std::size_t i = 0; i < inputs; ++i)
    step.statement.from.push_back(steps_[step_of(node, i)].statement.name);
  given_[node.outputs.front()] = steps_.size();
  steps_.push_back(std::move(step));
}

void Layers::add_convolution(const Node& node) {
  node.require_inputs(2, 3);
  const Constant w = constant(node, 1);
  if (w.dims.size() != 4) node.fail("W has {} dimensions, allowed 4", w.dims.size());
  for (const std::int64_t extent : w.dims)
    if (extent > kMostExtent)
      node.fail("W is {}, allowed extents up to {}", fmt::join(w.dims, "x"), kMostExtent);
  const std::int64_t groups = node.integer("group", 1);
  const bool depthwise = groups > 1;
  if (groups < 1 || (depthwise && (w.dims[0] != groups || w.dims[1] != 1)))
    node.fail(
        "found {} groups and W of {}, allowed 1 group, or as many groups as outputs, of 1 channel "
        "each",
        groups, fmt::join(w.dims, "x"));
  Step step(depthwise ? Operator::depthwise_convolution : Operator::convolution);
  step.statement.window = node.window(std::pair{w.dims[2], w.dims[3]});
  add_padding(node, step.statement.window);
  step.auto_pad = node.auto_pad();
  step.statement.output.channels = static_cast<std::uint32_t>(w.dims[0]);
  step.weight_channels = static_cast<std::uint32_t>(depthwise ? w.dims[0] : w.dims[1]);
  step.weights.values = channels_last(
      std::vector<float>(w.values.begin(), w.values.end()), static_cast<std::size_t>(w.dims[1]),
      static_cast<std::size_t>(w.dims[2]) * static_cast<std::size_t>(w.dims[3]));
  step.weights.bias.resize(step.statement.output.channels);
  if (!node.input(2).empty()) step.weights.bias = constant(node, 2).values;
  if (step.weights.bias.size() != step.statement.output.channels)
    node.fail("B has {} numbers, expected {}", step.weights.bias.size(),
              step.statement.output.channels);
  push(node, std::move(step), 1);
}

Layers::Step& Layers::normalised(const Node& node, std::size_t channels) {
  const Step& given = steps_[step_of(node, 0)];
  const LayerStatement& layer = given.statement;
  if (given.weight_channels != 0 && !layer.relu && !layer.fixed_exponent && !given.shared &&
      uses_.at(node.input(0)) == 1) {
    if (layer.output.channels != channels)
      node.fail("input 1 has {} numbers, expected {}", channels, layer.output.channels);
    alias(node);
    return steps_[given_.at(node.input(0))];
  }
  Step step(Operator::depthwise_convolution);
  step.statement.output.channels = static_cast<std::uint32_t>(channels);
  step.weight_channels = step.statement.output.channels;
  step.weights = {std::vector<float>(channels, 1), std::vector<double>(channels)};
  push(node, std::move(step), 1);
  return steps_.back();
}

void Layers::normalise(const Node& node) {
  node.require_inputs(5, 5);
  // Up to opset 13 further outputs indicate a model in training mode.
  if (node.integer("training_mode", 0) != 0 || node.outputs.size() > 1)
    node.fail(
        "is of a model in training mode, allowed one exported for inference (training_mode 0)");
  std::vector<std::vector<double>> parameters;
  for (std::size_t i = 1; i < 5; ++i) {
    parameters.push_back(constant(node, i).values);
    if (parameters.back().size() != parameters.front().size())
      node.fail("input {} has {} numbers, expected {}", i, parameters.back().size(),
                parameters.front().size());
  }
  const std::size_t channels = parameters.front().size();
  RealWeights& layer = normalised(node, channels).weights;
  const double epsilon = node.attribute("epsilon", &Attribute::number, 1e-5);
  const std::size_t each = layer.values.size() / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double variance = parameters[3][channel] + epsilon;
    if (!(variance > 0)) node.fail("the variance of channel {} is not above 0", channel);
    const double factor = parameters[0][channel] / std::sqrt(variance);
    const auto weights = std::span(layer.values).subspan(channel * each, each);
    for (float& value : weights) value = static_cast<float>(value * factor);
    double& bias = layer.bias[channel];
    bias = (bias - parameters[2][channel]) * factor + parameters[1][channel];
    if (!std::isfinite(static_cast<float>(bias)) ||
        !std::ranges::all_of(weights, [](float value) { return std::isfinite(value); }))
      node.fail("the weights and bias of channel {} exceed the range of f32", channel);
  }
}

void Layers::clip(const Node& node) {
  const auto bound = [&](const char* key, std::size_t input, double otherwise) {
    return node.input(input).empty() ? node.attribute(key, &Attribute::number, otherwise)
                                     : constant(node, input).values.front();
  };
  constexpr double kNone = std::numeric_limits<double>::infinity();
  constexpr double kLargest = std::numeric_limits<float>::max();  // default limit in opset 6
  const double low = bound("min", 1, -kNone), high = bound("max", 2, kNone);
  if (low != 0 || high < kLargest)
    node.fail("clips below {} and above {}, allowed only below 0: {}", low, high,
              "a Relu would take as many cycles as a ReLU6");
  fuse_relu(node);
}

void Layers::fuse_relu(const Node& node) {
  Step* step = &changed(node);
  // ReLU and max pooling commute.
  while (step->statement.op == Operator::max_pool && step->source) step = &steps_[*step->source];
  if (step->weight_channels == 0 && step->statement.op != Operator::add)
    node.fail(
        "uses the output of layer '{}', allowed a Conv, a BatchNormalization, an Add, or a MaxPool "
        "that is the only user of one of these",
        step->statement.name);
  step->statement.relu = true;
  alias(node);
}

}  // namespace tessera::convnet::onnx
