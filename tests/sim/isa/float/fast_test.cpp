#include "sim/isa/float/fast.h"

#include <array>
#include <random>

#include <doctest/doctest.h>

#include "sim/isa/float/fast_portable.h"

using namespace tessera;  // NOLINT(google-build-using-namespace)

namespace {

/// Random bits, half of them near the edges of the format's ranges, where rounding is hard.
template <class F>
class Values {
 public:
  fp::Bits<F> next() {
    const std::uint64_t r = random_();
    const auto any = static_cast<fp::Bits<F>>(r);
    const auto sign = static_cast<fp::Bits<F>>(any & F::kSign);
    const auto few = static_cast<fp::Bits<F>>(r >> 40 & 3);
    switch (r >> 32 & 15) {
      case 0:
        return static_cast<fp::Bits<F>>(sign | few);
      case 1:
        return static_cast<fp::Bits<F>>(sign | (kLeastNormal - 2 + few));
      case 2:
        return static_cast<fp::Bits<F>>(sign | (F::kInfinity - 2 + few));
      case 3:
        return static_cast<fp::Bits<F>>(sign | (F::kNan - 2 + few));
      case 4:
        return static_cast<fp::Bits<F>>(any & ~F::kInfinity);
      case 5:
        return static_cast<fp::Bits<F>>(sign | (F::kOne - 2 + few));
      default:
        return any;
    }
  }

 private:
  static constexpr auto kLeastNormal = std::uint32_t{1} << (F::kPrecision - 1);
  std::mt19937_64 random_{1};
};

/// What an operation answered and which flags it left with the host.
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
  Values<F> values;
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const auto a = values.next();
    const auto b = values.next();
    const auto c = values.next();
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
