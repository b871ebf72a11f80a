#include "kernels/convnet/reference.h"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/data/random.h"

using namespace tessera;
using convnet::Layer;
using convnet::LayerWeights;
using convnet::Operator;
using convnet::Tensor;

namespace {

constexpr program::Type kType = program::Type::i8;

std::int8_t byte(std::uint64_t stream, std::uint64_t i) {
  return static_cast<std::int8_t>(data::random_below(7, stream, i, 256));
}
Tensor random_tensor(convnet::Shape shape, std::uint64_t stream) {
  Tensor tensor{shape, {}};
  for (std::uint64_t i = 0; i < shape.elements(); ++i) tensor.values.push_back(byte(stream, i));
  return tensor;
}
LayerWeights random_weights(const Layer& layer) {
  const bool depthwise = layer.op == Operator::depthwise_convolution;
  LayerWeights weights;
  weights.outputs = convnet::padded_channels(layer.output.channels);
  weights.inputs = depthwise ? 1 : convnet::padded_channels(layer.input.channels);
  weights.height = layer.window.height;
  weights.width = layer.window.width;
  const std::size_t count =
      std::size_t{weights.outputs} * weights.height * weights.width * weights.inputs;
  for (std::size_t i = 0; i < count; ++i) weights.values.push_back(byte(3, i));
  for (std::size_t i = 0; i < weights.outputs; ++i)
    weights.bias.push_back(std::int64_t{50} * byte(4, i));
  return weights;
}
Layer layer_of(Operator op, convnet::Shape input, convnet::Shape output, convnet::Window window) {
  return {.op = op, .inputs = {0}, .input = input, .output = output, .window = window};
}
/// The element, 0 outside.
int at(const Tensor& tensor, int y, int x, int channel) {
  const auto height = static_cast<int>(tensor.shape.height);
  const auto width = static_cast<int>(tensor.shape.width);
  const auto channels = static_cast<int>(tensor.shape.channels);
  if (y < 0 || x < 0 || y >= height || x >= width) return 0;
  const int index = (y * width + x) * channels + channel;
  return tensor.values[static_cast<std::size_t>(index)];
}
int value_at(const LayerWeights& weights, int index) {
  return weights.values[static_cast<std::size_t>(index)];
}
/// s / 2^shift rounded by the floating point unit: halves to even.
int rounded(int s, unsigned shift, int low) {
  const double value = std::nearbyint(std::ldexp(static_cast<double>(s), -static_cast<int>(shift)));
  return static_cast<int>(std::min(127.0, std::max(static_cast<double>(low), value)));
}

/// The output of a layer, on so many host threads.
Tensor output_of(const Layer& layer, const std::vector<const Tensor*>& inputs,
                 const LayerWeights* weights = nullptr, unsigned host_threads = 1) {
  HostThreads threads(host_threads);
  return convnet::forward(layer, weights, inputs, threads);
}

/// Compares an output with the formula of each element, over output-padded coordinates.
template <class Expected>
void check_elements(const Tensor& found, const Expected& expected) {
  int wrong = 0;
  for (int y = 0; y < static_cast<int>(found.shape.height); ++y)
    for (int x = 0; x < static_cast<int>(found.shape.width); ++x)
      for (int c = 0; c < static_cast<int>(found.shape.channels); ++c)
        wrong += at(found, y, x, c) != expected(y, x, c) ? 1 : 0;
  CHECK(wrong == 0);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("sums are shifted with halves to the even integer and limited to the type") {
    CHECK(convnet::shifted(6, 2) == 2);
    CHECK(convnet::shifted(10, 2) == 2);
    CHECK(convnet::shifted(-6, 2) == -2);
    CHECK(convnet::shifted(-10, 2) == -2);
    CHECK(convnet::shifted(-7, 2) == -2);
    CHECK(convnet::shifted(11, 2) == 3);
    CHECK(convnet::shifted((1 << 30) + (1 << 29), 30) == 2);
    CHECK(convnet::shifted(-1, 30) == 0);
    CHECK(convnet::shifted(5, 0) == 5);
    CHECK(convnet::requantised(511, 2, false, kType) == 127);
    CHECK(convnet::requantised(-600, 2, false, kType) == -128);
    CHECK(convnet::requantised(-600, 2, true, kType) == 0);
    CHECK(convnet::requantised(-600, 2, false, program::Type::i16) == -150);
    CHECK(convnet::requantised(std::int64_t{1} << 50, 30, false, program::Type::i16) == 32767);
  }

  TEST_CASE("a convolution with strides and paddings is its formula, on any number of threads") {
    Layer layer = layer_of(Operator::convolution, {7, 9, 3}, {4, 6, 10}, {3, 5, 2, 2, 1, 3, 1, 4});
    layer.shift = 9;
    const Tensor in = random_tensor(layer.input, 1);
    const LayerWeights weights = random_weights(layer);
    for (const bool relu : {false, true}) {
      layer.relu = relu;
      const Tensor found = output_of(layer, {&in}, &weights);
      check_elements(found, [&](int y, int x, int c) {
        auto sum = static_cast<int>(weights.bias[static_cast<std::size_t>(c)]);
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 5; ++j)
            for (int k = 0; k < 3; ++k)
              sum += at(in, 2 * y + i - 1, 2 * x + j - 3, k) *
                     value_at(weights, ((c * 3 + i) * 5 + j) * 8 + k);
        return rounded(sum, 9, relu ? 0 : -128);
      });
      CHECK(output_of(layer, {&in}, &weights, 2).values == found.values);
    }
  }

  TEST_CASE("a depthwise convolution keeps channels apart") {
    Layer layer =
        layer_of(Operator::depthwise_convolution, {5, 4, 9}, {5, 4, 9}, {3, 3, 1, 1, 1, 1, 1, 1});
    layer.shift = 7;
    const Tensor in = random_tensor(layer.input, 1);
    const LayerWeights weights = random_weights(layer);
    check_elements(output_of(layer, {&in}, &weights), [&](int y, int x, int c) {
      auto sum = static_cast<int>(weights.bias[static_cast<std::size_t>(c)]);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          sum += at(in, y + i - 1, x + j - 1, c) * value_at(weights, (c * 3 + i) * 3 + j);
      return rounded(sum, 7, -128);
    });
  }

  TEST_CASE("padding never wins a maximum, and counts as zero in an average") {
    Tensor in = random_tensor({5, 6, 8}, 1);
    for (std::int16_t& value : in.values)
      value = static_cast<std::int16_t>(-1 - std::abs(value / 2));
    const convnet::Window window{3, 3, 2, 2, 1, 1, 1, 1};
    Layer layer = layer_of(Operator::max_pool, in.shape, {3, 3, 8}, window);
    check_elements(output_of(layer, {&in}), [&](int y, int x, int c) {
      int most = -128;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          if (const int value = at(in, 2 * y + i - 1, 2 * x + j - 1, c); value != 0)
            most = std::max(most, value);
      return most;
    });
    layer.op = Operator::average_pool;
    layer.multiplier = 114;
    layer.shift = 10;
    check_elements(output_of(layer, {&in}), [&](int y, int x, int c) {
      int sum = 0;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum += at(in, 2 * y + i - 1, 2 * x + j - 1, c);
      return rounded(114 * sum, 10, -128);
    });
  }

  TEST_CASE("add scales its operands, concatenate puts channels one after the other") {
    const Tensor a = random_tensor({3, 2, 8}, 1);
    const Tensor b = random_tensor({3, 2, 8}, 2);
    Layer layer = layer_of(Operator::add, a.shape, a.shape, {});
    layer.left_shifts = {3, 0};
    layer.shift = 4;
    layer.relu = true;
    check_elements(output_of(layer, {&a, &b}), [&](int y, int x, int c) {
      return rounded(at(a, y, x, c) * 8 + at(b, y, x, c), 4, 0);
    });
    layer = layer_of(Operator::concatenate, {3, 2, 16}, {3, 2, 16}, {});
    check_elements(output_of(layer, {&a, &b}), [&](int y, int x, int c) {
      return c < 8 ? at(a, y, x, c) : at(b, y, x, c - 8);
    });
  }
}
