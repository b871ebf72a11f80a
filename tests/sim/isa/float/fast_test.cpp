#include "sim/isa/float/fast.h"

#include <doctest/doctest.h>

#include "sim/isa/float/fast_portable.h"
#include "tests/sim/isa/float/values.h"

using namespace tessera;  // NOLINT(google-build-using-namespace)

namespace {

/// Result of an operation, and the flags it left with the host.
template <class Result>
struct Outcome {
  Result value;
  std::uint32_t flags;
  bool operator==(const Outcome&) const = default;
};
template <class Operation, class... Args>
auto observe(fp::HostEnvironment& host, Operation operation, Args... args) {
  const auto value = operation(args...);
  return Outcome<std::remove_const_t<decltype(value)>>{value, host.take_flags()};
}

template <class F, class Fast, class Portable>
int disagreements(int count, Fast fast, Portable portable) {
  fp::HostEnvironment host;
  Values<F> values(1);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const auto a = static_cast<fp::Bits<F>>(values.next());
    const auto b = static_cast<fp::Bits<F>>(values.next());
    const auto c = static_cast<fp::Bits<F>>(values.next());
    if (!(observe(host, fast, a, b, c) == observe(host, portable, a, b, c))) ++wrong;
  }
  return wrong;
}

#define BOTH2(name)                                    \
  [](auto a, auto b, auto) { return fp::name(a, b); }, \
      [](auto a, auto b, auto) { return fp::portable::name(a, b); }
#define BOTH1(name)                               \
  [](auto a, auto, auto) { return fp::name(a); }, \
      [](auto a, auto, auto) { return fp::portable::name(a); }
#define BOTH3(name)                                         \
  [](auto a, auto b, auto c) { return fp::name(a, b, c); }, \
      [](auto a, auto b, auto c) { return fp::portable::name(a, b, c); }

constexpr int kCases = 300'000;

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("f32 on the host equals f32 in software, flags included") {
    CHECK(disagreements<fp::F32>(kCases, BOTH2(f32_add)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH2(f32_sub)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH2(f32_mul)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH2(f32_div)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH1(f32_sqrt)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH3(f32_fma)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH2(f32_eq)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH2(f32_lt)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH2(f32_le)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH1(f32_to_i32_rtz)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH1(f32_to_u32_rtz)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH1(f32_from_i32)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH1(f32_from_u32)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH1(f16_from_f32)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH1(f16_from_i32)) == 0);
    CHECK(disagreements<fp::F32>(kCases, BOTH1(f16_from_u32)) == 0);
  }

  TEST_CASE("the host gives every f16 value the same conversions and root as software") {
    fp::HostEnvironment host;
    int wrong = 0;
    const auto expect = [&](auto fast, auto portable, std::uint16_t a) {
      if (!(observe(host, fast, a) == observe(host, portable, a))) ++wrong;
    };
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
      const auto a = static_cast<std::uint16_t>(i);
      expect(fp::f16_sqrt, fp::portable::f16_sqrt, a);
      expect(fp::f32_from_f16, fp::portable::f32_from_f16, a);
      expect(fp::f16_to_i32_rtz, fp::portable::f16_to_i32_rtz, a);
      expect(fp::f16_to_u32_rtz, fp::portable::f16_to_u32_rtz, a);
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("special f16 values on the host equal software, all pairs and triples") {
    fp::HostEnvironment host;
    int wrong = 0;
    const auto expect = [&](auto fast, auto portable, auto... args) {
      if (!(observe(host, fast, args...) == observe(host, portable, args...))) ++wrong;
    };
    for (const std::uint32_t x : kSpecials<fp::F16>) {
      for (const std::uint32_t y : kSpecials<fp::F16>) {
        const auto a = static_cast<std::uint16_t>(x);
        const auto b = static_cast<std::uint16_t>(y);
        expect(fp::f16_add, fp::portable::f16_add, a, b);
        expect(fp::f16_sub, fp::portable::f16_sub, a, b);
        expect(fp::f16_mul, fp::portable::f16_mul, a, b);
        expect(fp::f16_div, fp::portable::f16_div, a, b);
        for (const std::uint32_t z : kSpecials<fp::F16>) {
          expect(fp::f16_fma, fp::portable::f16_fma, a, b, static_cast<std::uint16_t>(z));
        }
      }
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("special f32 values on the host equal software, all pairs and triples") {
    fp::HostEnvironment host;
    int wrong = 0;
    const auto expect = [&](auto fast, auto portable, auto... args) {
      if (!(observe(host, fast, args...) == observe(host, portable, args...))) ++wrong;
    };
    for (const std::uint32_t a : kSpecials<fp::F32>) {
      for (const std::uint32_t b : kSpecials<fp::F32>) {
        expect(fp::f32_add, fp::portable::f32_add, a, b);
        expect(fp::f32_sub, fp::portable::f32_sub, a, b);
        expect(fp::f32_mul, fp::portable::f32_mul, a, b);
        expect(fp::f32_div, fp::portable::f32_div, a, b);
        for (const std::uint32_t c : kSpecials<fp::F32>) {
          expect(fp::f32_fma, fp::portable::f32_fma, a, b, c);
        }
      }
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("flags of the outer program survive a host environment") {
    fp::HostEnvironment outer;
    fp::raise_flags(fp::kDivideByZero);
    {
      fp::HostEnvironment inner;
      CHECK(inner.take_flags() == 0);
      fp::raise_flags(fp::kInvalid | fp::kInexact);
      CHECK(inner.take_flags() == (fp::kInvalid | fp::kInexact));
      CHECK(inner.take_flags() == 0);
    }
    CHECK(outer.take_flags() == fp::kDivideByZero);
  }

  TEST_CASE("f16 on the host equals f16 in software, flags included") {
    CHECK(disagreements<fp::F16>(kCases, BOTH2(f16_add)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH2(f16_sub)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH2(f16_mul)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH2(f16_div)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH1(f16_sqrt)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH3(f16_fma)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH2(f16_eq)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH2(f16_lt)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH2(f16_le)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH1(f16_to_i32_rtz)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH1(f16_to_u32_rtz)) == 0);
    CHECK(disagreements<fp::F16>(kCases, BOTH1(f32_from_f16)) == 0);
  }
}
