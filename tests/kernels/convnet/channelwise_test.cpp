#include <doctest/doctest.h>

#include "tests/kernels/convnet/layer.h"

namespace tessera::convnet::tile_code {
namespace {

/// A layer whose channels stay apart, on random inputs, and its call.
struct Channelwise {
  convnet::Layer of;
  Tensor x;
  OnCore on;

  Channelwise(const Layer& layer, Operator op, std::mt19937 random)
      : of(layer.as(op)), x(drawn(of.input, random, layer)), on(layer, x) {}
  /// Of `convolve` with a factor a tap, and no bias.
  void convolve(const std::vector<std::int32_t>& offsets, const std::vector<float>& factors) {
    const Steps steps{on.layer.rounds(), 1, static_cast<std::uint32_t>(offsets.size())};
    const PatchTable table = patch_table(on.grid(), block_planes(on.layer.unit()));
    const Convolve call{
        .type = &on.layer.unit(),
        .steps = steps,
        .grid = on.grid(),
        .input = on.x,
        .output = on.y,
        .weights = on.core.put(shared_weights(on.layer.unit(), factors)),
        .bias = on.core.put(std::vector<std::byte>(steps.bias_bytes(on.layer.unit()))),
        .distances = on.prepared(steps, offsets, {}, true),
        .patches = on.core.put(table.words),
        .first_patch = table.first,
        .shift = of.shift,
        .relu = of.relu,
        .shared_weights = true};
    on.core.call(code_name("convolve", on.layer.unit()), call.arguments());
  }
  /// The result is that of the reference, and nothing is written beside it.
  void check(const std::vector<const Tensor*>& inputs) const {
    bool beside = false;
    CHECK(on.read_back(on.y, beside) == expected(of, inputs));
    CHECK_FALSE(beside);
  }
};

/// Of every type in turns.
Layer sized(std::mt19937& random, std::uint32_t seed) {
  Layer layer = random_size(random);
  constexpr program::Type kTypes[] = {program::Type::i8, program::Type::i16, program::Type::bf16};
  layer.type = kTypes[seed % 3];
  return layer;
}

TEST_SUITE("unit") {
  TEST_CASE("the largest input over all taps") {
    std::mt19937 random(21);
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Channelwise pool(sized(random, seed), Operator::max_pool, std::mt19937(seed));
      OnCore& on = pool.on;
      std::vector<std::int32_t> offsets = on.tap_offsets();
      if (offsets.size() % 2 == 1) offsets.push_back(offsets.back());
      const Steps steps{on.layer.blocks(), 1, static_cast<std::uint32_t>(offsets.size())};
      const Argument table = on.core.put(pool_patch_table(on.grid()).words);
      const PoolMax call{steps, on.x,
                         on.y,  on.prepared(steps, offsets, {}, true, true),
                         table, on.out.plane_bytes()};
      on.core.call(code_name("pool_max", on.layer.unit()), call.arguments());
      pool.check({&pool.x});
    }
  }

  TEST_CASE("the mean over all taps, with one factor for all channels") {
    std::mt19937 random(22);
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Channelwise mean(sized(random, seed), Operator::average_pool, std::mt19937(seed));
      const std::uint32_t taps = mean.on.layer.height * mean.on.layer.width;
      mean.of.multiplier = (128 + taps / 2) / taps - (taps == 1 ? 1 : 0);
      const float factor = mean_factor(mean.of);
      mean.convolve(mean.on.tap_offsets(), std::vector<float>(taps, factor));
      mean.check({&mean.x});
    }
  }

  TEST_CASE("the sum of two tensors, each with its own scale") {
    std::mt19937 random(23);
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      Layer layer = sized(random, seed);
      layer.height = layer.width = layer.stride = 1;
      layer.shift = 6;
      layer.relu = true;
      Channelwise sum(layer, Operator::add, std::mt19937(seed));
      sum.of.left_shifts = {6, 5};
      const Tensor second = drawn(sum.of.input, random, layer);
      const std::uint32_t other = sum.on.core.put(laid_out(second, sum.on.in));
      sum.convolve(
          {0, static_cast<std::int32_t>(other - sum.on.x)},
          sum.on.layer.unit().is_float() ? std::vector{1.0F, 1.0F} : std::vector{64.0F, 32.0F});
      sum.check({&sum.x, &second});
    }
  }
}

}  // namespace
}  // namespace tessera::convnet::tile_code
