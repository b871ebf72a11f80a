#include "sim/isa/float/fast.h"

#include <doctest/doctest.h>

#include "sim/isa/float/fast_portable.h"
#include "tests/sim/isa/float/values.h"

using namespace tessera;  // NOLINT(google-build-using-namespace)

namespace {

/// Result of an operation, and the exception flags it raised on the host.
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

/// Number of operands on which results or flags differ: random operands, every triple of special
/// values, and every f16 value.
template <class F, class Fast, class Portable>
int disagreements(Fast fast, Portable portable) {
  fp::HostEnvironment host;
  Values<F> values(1);
  int wrong = 0;
  const auto compare = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    const auto a = static_cast<fp::Bits<F>>(x);
    const auto b = static_cast<fp::Bits<F>>(y);
    const auto c = static_cast<fp::Bits<F>>(z);
    if (!(observe(host, fast, a, b, c) == observe(host, portable, a, b, c))) ++wrong;
  };
  for (int i = 0; i < 300'000; ++i) {
    const std::uint32_t a = values.next();
    const std::uint32_t b = values.next();
    compare(a, b, values.next());
  }
  for (const std::uint32_t a : kSpecials<F>)
    for (const std::uint32_t b : kSpecials<F>)
      for (const std::uint32_t c : kSpecials<F>) compare(a, b, c);
  if (std::is_same_v<F, fp::F16>)
    for (std::uint32_t a = 0; a < 0x10000; ++a) compare(a, a, a);
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

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("f32 on the host equals f32 in software, flags included") {
    CHECK(disagreements<fp::F32>(BOTH2(f32_add)) == 0);
    CHECK(disagreements<fp::F32>(BOTH2(f32_sub)) == 0);
    CHECK(disagreements<fp::F32>(BOTH2(f32_mul)) == 0);
    CHECK(disagreements<fp::F32>(BOTH2(f32_div)) == 0);
    CHECK(disagreements<fp::F32>(BOTH1(f32_sqrt)) == 0);
    CHECK(disagreements<fp::F32>(BOTH3(f32_fma)) == 0);
    CHECK(disagreements<fp::F32>(BOTH2(f32_eq)) == 0);
    CHECK(disagreements<fp::F32>(BOTH2(f32_lt)) == 0);
    CHECK(disagreements<fp::F32>(BOTH2(f32_le)) == 0);
    CHECK(disagreements<fp::F32>(BOTH1(f32_to_i32_rtz)) == 0);
    CHECK(disagreements<fp::F32>(BOTH1(f32_to_u32_rtz)) == 0);
    CHECK(disagreements<fp::F32>(BOTH1(f32_from_i32)) == 0);
    CHECK(disagreements<fp::F32>(BOTH1(f32_from_u32)) == 0);
    CHECK(disagreements<fp::F32>(BOTH1(f16_from_f32)) == 0);
    CHECK(disagreements<fp::F32>(BOTH1(f16_from_i32)) == 0);
    CHECK(disagreements<fp::F32>(BOTH1(f16_from_u32)) == 0);
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
    CHECK(disagreements<fp::F16>(BOTH2(f16_add)) == 0);
    CHECK(disagreements<fp::F16>(BOTH2(f16_sub)) == 0);
    CHECK(disagreements<fp::F16>(BOTH2(f16_mul)) == 0);
    CHECK(disagreements<fp::F16>(BOTH2(f16_div)) == 0);
    CHECK(disagreements<fp::F16>(BOTH1(f16_sqrt)) == 0);
    CHECK(disagreements<fp::F16>(BOTH3(f16_fma)) == 0);
    CHECK(disagreements<fp::F16>(BOTH2(f16_eq)) == 0);
    CHECK(disagreements<fp::F16>(BOTH2(f16_lt)) == 0);
    CHECK(disagreements<fp::F16>(BOTH2(f16_le)) == 0);
    CHECK(disagreements<fp::F16>(BOTH1(f16_to_i32_rtz)) == 0);
    CHECK(disagreements<fp::F16>(BOTH1(f16_to_u32_rtz)) == 0);
    CHECK(disagreements<fp::F16>(BOTH1(f32_from_f16)) == 0);
  }
}
