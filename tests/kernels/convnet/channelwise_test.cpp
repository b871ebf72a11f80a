#include <doctest/doctest.h>

#include "tests/kernels/convnet/layer.h"

namespace tessera::convnet::tile_code {
namespace {

/// A layer whose channels stay apart, on random inputs, and its call.
struct Channelwise {
  Layer layer;
  convnet::Layer of;
  Tensor x;
  Layout in, out;
  Core core;
  std::uint32_t input, output;

  Channelwise(const Layer& spec, Operator op, std::uint32_t seed)
      : layer(spec),
        of(spec.as(op)),
        in(of.input, spec.stride, spec.slack),
        out(of.output, 1, spec.slack) {
    std::mt19937 random(seed);
    x = drawn(of.input, random, 120);
    input = core.put(laid_out(x, in));
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
  /// Of `convolve` with a factor a tap, and no bias.
  void convolve(const std::vector<std::int32_t>& offsets, const std::vector<std::int8_t>& factors) {
    const Steps steps{layer.blocks(), 1, static_cast<std::uint32_t>(offsets.size())};
    const Grid grid = grid_of(layer, in, out);
    const PatchTable table = patch_table(grid);
    const Convolve call{.steps = steps,
                        .grid = grid,
                        .input = input,
                        .output = output,
                        .weights = core.put(shared_weights(factors)),
                        .bias = core.put(std::vector<std::int8_t>(steps.bias_bytes())),
                        .distances = prepared(steps, offsets),
                        .patches = core.put(table.words),
                        .first_patch = table.first,
                        .shift = of.shift,
                        .relu = of.relu,
                        .shared_weights = true};
    core.call("convolve", call.arguments());
  }
  /// The result is that of the reference, and nothing is written beside it.
  void check(const std::vector<const Tensor*>& inputs) const {
    bool beside = false;
    CHECK(read_back(core, output, of.output, out, beside) == expected(of, inputs));
    CHECK_FALSE(beside);
  }
};

TEST_SUITE("unit") {
  TEST_CASE("the largest input over all taps") {
    std::mt19937 random(21);
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Channelwise on(random_size(random), Operator::max_pool, seed);
      std::vector<std::int32_t> offsets = tap_offsets(on.layer, on.in);
      if (offsets.size() % 2 == 1) offsets.push_back(offsets.back());
      const Steps steps{on.layer.blocks(), 1, static_cast<std::uint32_t>(offsets.size())};
      const Argument table = on.core.put(pool_patch_table(grid_of(on.layer, on.in, on.out)).words);
      const PoolMax call{
          steps, on.input, on.output, on.prepared(steps, offsets), table, on.out.plane_bytes()};
      on.core.call("pool_max", call.arguments());
      on.check({&on.x});
    }
  }

  TEST_CASE("the mean over all taps, with one factor for all channels") {
    std::mt19937 random(22);
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Channelwise on(random_size(random), Operator::average_pool, seed);
      const std::uint32_t taps = on.layer.height * on.layer.width;
      on.of.multiplier = (128 + taps / 2) / taps - (taps == 1 ? 1 : 0);
      const auto factor = static_cast<std::int8_t>(on.of.multiplier);
      on.convolve(tap_offsets(on.layer, on.in), std::vector<std::int8_t>(taps, factor));
      on.check({&on.x});
    }
  }

  TEST_CASE("the sum of two tensors, each with its own scale") {
    std::mt19937 random(23);
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      Layer layer = random_size(random);
      layer.height = layer.width = layer.stride = 1;
      layer.shift = 6;
      layer.relu = true;
      Channelwise on(layer, Operator::add, seed);
      on.of.left_shifts = {6, 5};
      const Tensor second = drawn(on.of.input, random, 120);
      const std::uint32_t other = on.core.put(laid_out(second, on.in));
      on.convolve({0, static_cast<std::int32_t>(other - on.input)}, {64, 32});
      on.check({&on.x, &second});
    }
  }
}

}  // namespace
}  // namespace tessera::convnet::tile_code
