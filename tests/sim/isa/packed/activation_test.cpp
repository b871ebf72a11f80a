#include "sim/isa/packed/activation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include "sim/isa/float/host_environment.h"
#include "sim/isa/packed/random.h"

using namespace tessera;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint32_t kInfinity = fp::F32::kInfinity;
constexpr std::uint32_t kNan = fp::F32::kNan;
constexpr std::uint32_t kMinus = fp::F32::kSign;

long double exp2_of(long double x) { return std::exp2(x); }
long double log2_of(long double x) { return std::log2(x); }
long double tanh_of(long double x) { return std::tanh(x); }
long double sigmoid_of(long double x) { return 1 / (1 + std::exp(-x)); }
long double rsqrt_of(long double x) { return 1 / std::sqrt(x); }

/// |got - exact| in units of the last place of f32 at `exact`.
long double error_ulp(std::uint32_t got, long double exact) {
  const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  const auto value = static_cast<long double>(std::bit_cast<float>(got));
  return std::abs(value - exact) / std::ldexp(1.0L, exponent - 23);
}

/// The largest error over values of both signs (with `positive` only positive) with exponents in
/// [low, high]. The model is exact to 2^-38 ulp, since long double has a 64-bit significand.
template <class Function, class Model>
double greatest_error(Function function, Model model, int low, int high, bool positive) {
  std::mt19937_64 random(17);
  long double greatest = 0;
  for (int i = 0; i < 400'000; ++i) {
    const std::uint64_t r = random();
    const auto exponent = static_cast<std::uint32_t>(
        127 + low + static_cast<int>((r >> 32) % static_cast<std::uint64_t>(high - low + 1)));
    std::uint32_t bits = exponent << 23 | static_cast<std::uint32_t>(r & 0x7f'ffff);
    if (!positive) bits |= static_cast<std::uint32_t>(r) & kMinus;
    const long double exact = model(static_cast<long double>(std::bit_cast<float>(bits)));
    greatest = std::max(greatest, error_ulp(function(bits), exact));
  }
  return static_cast<double>(greatest);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("activations are within 0.5002 ulp") {
    CHECK(greatest_error(packed::act_exp2, exp2_of, -30, 6, false) < 0.5002);
    CHECK(greatest_error(packed::act_log2, log2_of, -126, 127, true) < 0.5002);
    CHECK(greatest_error(packed::act_log2, log2_of, -1, 0, true) < 0.5002);
    CHECK(greatest_error(packed::act_tanh, tanh_of, -126, 4, false) < 0.5002);
    CHECK(greatest_error(packed::act_tanh, tanh_of, -5, 2, false) < 0.5002);
    CHECK(greatest_error(packed::act_sigmoid, sigmoid_of, -30, 6, false) < 0.5002);
    CHECK(greatest_error(packed::act_rsqrt, rsqrt_of, -126, 127, true) <= 0.5);
  }

  TEST_CASE("near one the logarithm keeps its relative precision") {
    for (std::uint32_t i = 1; i < 2000; ++i) {
      for (const std::uint32_t bits : {0x3f80'0000 + i, 0x3f80'0000 - i}) {
        const long double exact = log2_of(static_cast<long double>(std::bit_cast<float>(bits)));
        REQUIRE(error_ulp(packed::act_log2(bits), exact) < 0.5002L);
      }
    }
  }

  TEST_CASE("subnormal values are values") {
    for (std::uint32_t bits = 1; bits < 0x0080'0000; bits += 4099) {
      const auto value = static_cast<long double>(std::bit_cast<float>(bits));
      REQUIRE(error_ulp(packed::act_log2(bits), log2_of(value)) < 0.5002L);
      REQUIRE(error_ulp(packed::act_rsqrt(bits), rsqrt_of(value)) <= 0.5L);
      REQUIRE(packed::act_tanh(bits) == bits);
      REQUIRE(packed::act_exp2(bits) == fp::F32::kOne);
    }
  }

  TEST_CASE("powers of two are exact") {
    for (int n = -149; n < 128; ++n) {
      const auto power = std::bit_cast<std::uint32_t>(std::ldexp(1.0F, n));
      const auto exponent = std::bit_cast<std::uint32_t>(static_cast<float>(n));
      CHECK(packed::act_exp2(exponent) == power);
      CHECK(packed::act_log2(power) == exponent);
    }
    CHECK(packed::act_rsqrt(0x4080'0000) == 0x3f00'0000);
  }

  TEST_CASE("activations of special values") {
    using Function = std::uint32_t (*)(std::uint32_t);
    struct Case {
      Function function;
      std::uint32_t zero, minus_zero, infinity, minus_infinity, minus_one;
    };
    const Case cases[] = {
        {packed::act_exp2, 0x3f800000, 0x3f800000, kInfinity, 0, 0x3f000000},
        {packed::act_log2, kInfinity | kMinus, kInfinity | kMinus, kInfinity, kNan, kNan},
        {packed::act_tanh, 0, kMinus, 0x3f800000, 0xbf800000, 0xbf42f7d6},
        {packed::act_sigmoid, 0x3f000000, 0x3f000000, 0x3f800000, 0, 0x3e89b2b1},
        {packed::act_rsqrt, kInfinity, kInfinity | kMinus, 0, kNan, kNan},
    };
    fp::HostEnvironment host;
    for (const Case& c : cases) {
      CHECK(c.function(0) == c.zero);
      CHECK(c.function(kMinus) == c.minus_zero);
      CHECK(c.function(kInfinity) == c.infinity);
      CHECK(c.function(kInfinity | kMinus) == c.minus_infinity);
      CHECK(c.function(0xbf80'0000) == c.minus_one);
      CHECK(c.function(0x7f80'0001) == kNan);
      CHECK(c.function(0xffff'ffff) == kNan);
    }
    CHECK(host.take_flags() == 0);
  }

  TEST_CASE("rnd.64 is xoroshiro128+") {
    std::uint64_t state[2] = {1, 2};
    CHECK(packed::rnd_64(state) == 3);
    // Computed by hand from the published step: a = 1, b = 2 ^ 1.
    CHECK(state[0] == ((std::uint64_t{1} << 24) ^ 3 ^ (3 << 16)));
    CHECK(state[1] == std::uint64_t{3} << 37);
  }
}
