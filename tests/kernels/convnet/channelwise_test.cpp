#include <doctest/doctest.h>

#include "tests/kernels/convnet/layer.h"

namespace tessera::convnet::tile_code {
namespace {

/// A layer whose channels stay apart, on random inputs.
struct Channelwise {
  Layer layer;
  Tensor<std::int8_t> x;
  Layout in;
  Layout out;
  Core core;
  std::uint32_t input;
  std::uint32_t output;

  Channelwise(const Layer& of, std::uint32_t seed)
      : layer(of),
        x(of.inputs, of.input_rows(), of.input_columns()),
        in(of.input_rows(), of.input_columns(), of.stride, of.slack),
        out(of.rows, of.columns, 1, of.slack) {
    std::mt19937 random(seed);
    x.fill_with(random, 120);
    input = core.put(laid_out(x, layer.inputs, in));
    output = core.put(std::vector<std::int8_t>(out.bytes(layer.outputs), 55));
  }
  /// Distances for these taps, one plane each.
  Argument prepared(const Steps& steps, const std::vector<std::int32_t>& offsets) {
    const Prepare prepare{.steps = steps,
                          .distances = core.reserve(steps.distance_bytes()),
                          .tap_offsets = core.put(offsets),
                          .input_plane_bytes = in.plane_bytes(),
                          .one_plane_each = true};
    core.call("prepare", prepare.arguments());
    return prepare.distances;
  }
  /// The result; writes nothing beside it.
  Tensor<std::int8_t> result() {
    bool beside = false;
    Tensor<std::int8_t> y = read_back(core, output, layer, out, beside);
    CHECK_FALSE(beside);
    return y;
  }
  /// By `of(channel, row, column, tap)` -> input at a tap.
  template <class Of>
  Tensor<std::int8_t> expected(Of of) const {
    Tensor<std::int8_t> y(layer.outputs, layer.rows, layer.columns);
    for (std::uint32_t c = 0; c < layer.outputs; ++c)
      for (std::uint32_t row = 0; row < layer.rows; ++row)
        for (std::uint32_t column = 0; column < layer.columns; ++column)
          y.at(c, row, column) = of(c, row, column);
    return y;
  }
  [[nodiscard]] std::int8_t at(std::uint32_t c, std::uint32_t row, std::uint32_t column,
                               std::uint32_t tap) const {
    return x.at(c, row * layer.stride + tap / layer.width,
                column * layer.stride + tap % layer.width);
  }
};

/// The call of `convolve` with these weights, and no bias.
Convolve call_of(Channelwise& on, const std::vector<std::int32_t>& offsets,
                 const std::vector<std::int8_t>& weights) {
  const auto taps = static_cast<std::uint32_t>(offsets.size());
  const Steps steps{on.layer.blocks(), 1, taps};
  const Grid grid = grid_of(on.layer, on.in, on.out);
  const PatchTable table = patch_table(grid);
  return {.steps = steps,
          .grid = grid,
          .input = on.input,
          .output = on.output,
          .weights = on.core.put(weights),
          .bias = on.core.put(std::vector<std::int8_t>(steps.bias_bytes())),
          .distances = on.prepared(steps, offsets),
          .patches = on.core.put(table.words),
          .first_patch = table.first,
          .shift = on.layer.shift};
}

Layer layer_of(std::mt19937& random) {
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  Layer layer{.rows = pick(1, 8), .columns = pick(2, 17), .inputs = 8 * pick(1, 6)};
  layer.outputs = layer.inputs;
  layer.height = pick(1, 3);
  layer.width = pick(1, 3);
  layer.stride = pick(1, 2);
  layer.slack = pick(0, 2);
  return layer;
}

TEST_SUITE("unit") {
  TEST_CASE("the largest input over all taps") {
    std::mt19937 random(21);
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Channelwise on(layer_of(random), seed);
      std::vector<std::int32_t> offsets = tap_offsets(on.layer, on.in);
      if (offsets.size() % 2 == 1) offsets.push_back(offsets.back());
      const Steps steps{on.layer.blocks(), 1, static_cast<std::uint32_t>(offsets.size())};
      const PoolMax call{
          .steps = steps,
          .input = on.input,
          .output = on.output,
          .distances = on.prepared(steps, offsets),
          .patches = on.core.put(pool_patch_table(grid_of(on.layer, on.in, on.out)).words),
          .output_plane_bytes = on.out.plane_bytes()};
      on.core.call("pool_max", call.arguments());
      const std::uint32_t taps = on.layer.height * on.layer.width;
      CHECK(on.result() == on.expected([&](auto c, auto row, auto column) {
        std::int8_t most = -128;
        for (std::uint32_t tap = 0; tap < taps; ++tap)
          most = std::max(most, on.at(c, row, column, tap));
        return most;
      }));
    }
  }

  TEST_CASE("the mean over all taps, with one factor for all channels") {
    std::mt19937 random(22);
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Channelwise on(layer_of(random), seed);
      const std::uint32_t taps = on.layer.height * on.layer.width;
      const auto factor = static_cast<std::int8_t>((128 + taps / 2) / taps - (taps == 1 ? 1 : 0));
      Convolve call = call_of(on, tap_offsets(on.layer, on.in),
                              shared_weights(std::vector<std::int8_t>(taps, factor)));
      call.shared_weights = true;
      on.core.call("convolve", call.arguments());
      CHECK(on.result() == on.expected([&](auto c, auto row, auto column) {
        std::int64_t sum = 0;
        for (std::uint32_t tap = 0; tap < taps; ++tap) sum += factor * on.at(c, row, column, tap);
        return requantise(sum, on.layer.shift, false);
      }));
    }
  }

  TEST_CASE("the sum of two tensors, each with its own scale") {
    std::mt19937 random(23);
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      Layer layer = layer_of(random);
      layer.height = layer.width = layer.stride = 1;
      Channelwise on(layer, seed);
      Tensor<std::int8_t> second(layer.inputs, layer.rows, layer.columns);
      second.fill_with(random, 120);
      const std::uint32_t other = on.core.put(laid_out(second, layer.inputs, on.in));
      Convolve call = call_of(on, {0, static_cast<std::int32_t>(other - on.input)},
                              shared_weights(std::vector<std::int8_t>{64, 32}));
      call.shared_weights = true;
      call.shift = 6;
      call.relu = true;
      on.core.call("convolve", call.arguments());
      CHECK(on.result() == on.expected([&](auto c, auto row, auto column) {
        return requantise(64 * on.x.at(c, row, column) + 32 * second.at(c, row, column), 6, true);
      }));
    }
  }

  TEST_CASE("a convolution channel by channel") {
    std::mt19937 random(24);
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Channelwise on(layer_of(random), seed);
      const std::uint32_t taps = on.layer.height * on.layer.width;
      std::vector<std::int8_t> factors(std::size_t{on.layer.inputs} * taps);
      for (std::int8_t& factor : factors)
        factor = static_cast<std::int8_t>(static_cast<int>(random() % 81) - 40);
      std::vector<std::int8_t> weights;
      for (std::uint32_t block = 0; block < on.layer.blocks() * taps; ++block) {
        const auto diagonal = diagonal_block(
            std::span<const std::int8_t, 8>(factors.data() + std::size_t{8} * block, 8));
        weights.insert(weights.end(), diagonal.begin(), diagonal.end());
      }
      weights.resize(weights.size() + kWeightBytesAhead);
      const Convolve call = call_of(on, tap_offsets(on.layer, on.in), weights);
      on.core.call("convolve", call.arguments());
      CHECK(on.result() == on.expected([&](auto c, auto row, auto column) {
        std::int64_t sum = 0;
        for (std::uint32_t tap = 0; tap < taps; ++tap)
          sum += factors[(c / 8 * taps + tap) * 8 + c % 8] * on.at(c, row, column, tap);
        return requantise(sum, on.layer.shift, false);
      }));
    }
  }
}

}  // namespace
}  // namespace tessera::convnet::tile_code
