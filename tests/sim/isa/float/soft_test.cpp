#include "sim/isa/float/soft.h"

#include <doctest/doctest.h>

#include "sim/isa/float/quiet.h"
#include "tests/sim/isa/float/exact.h"
#include "tests/sim/isa/float/values.h"

using namespace tessera;  // NOLINT(google-build-using-namespace)

namespace {

using fp::Rounding;

constexpr Rounding kModes[] = {Rounding::rne, Rounding::rtz, Rounding::rdn, Rounding::rup,
                               Rounding::rmm};

/// Runs a software operation with empty flags.
template <class Operation>
exact::Result soft(Operation operation) {
  exact::Result result;
  result.bits = static_cast<std::uint32_t>(operation(result.flags));
  return result;
}

template <class F>
int wrong_operations(std::uint32_t x, std::uint32_t y, std::uint32_t z, Rounding mode) {
  const auto a = static_cast<fp::Bits<F>>(x);
  const auto b = static_cast<fp::Bits<F>>(y);
  const auto c = static_cast<fp::Bits<F>>(z);
  int wrong = 0;
  const auto expect = [&](const exact::Result& model, auto operation) {
    if (!(soft(operation) == model)) ++wrong;
  };
  using Flags = std::uint32_t&;
  expect(exact::add<F>(a, b, mode), [=](Flags f) { return fp::soft::add<F>(a, b, mode, f); });
  expect(exact::add<F>(a, fp::negate<F>(b), mode),
         [=](Flags f) { return fp::soft::sub<F>(a, b, mode, f); });
  expect(exact::mul<F>(a, b, mode), [=](Flags f) { return fp::soft::mul<F>(a, b, mode, f); });
  expect(exact::div<F>(a, b, mode), [=](Flags f) { return fp::soft::div<F>(a, b, mode, f); });
  expect(exact::sqrt<F>(a, mode), [=](Flags f) { return fp::soft::sqrt<F>(a, mode, f); });
  expect(exact::fma<F>(a, b, c, mode), [=](Flags f) { return fp::soft::fma<F>(a, b, c, mode, f); });
  expect(exact::fma<F>(a, b, fp::negate<F>(c), mode),
         [=](Flags f) { return fp::soft::fmsub<F>(a, b, c, mode, f); });
  expect(exact::fma<F>(fp::negate<F>(a), b, c, mode),
         [=](Flags f) { return fp::soft::fnmsub<F>(a, b, c, mode, f); });
  expect(exact::fma<F>(fp::negate<F>(a), b, fp::negate<F>(c), mode),
         [=](Flags f) { return fp::soft::fnmadd<F>(a, b, c, mode, f); });
  return wrong;
}

template <class F>
int wrong_conversions(std::uint32_t x, Rounding mode) {
  const auto a = static_cast<fp::Bits<F>>(x);
  int wrong = 0;
  const auto expect = [&](const exact::Result& model, auto operation) {
    if (!(soft(operation) == model)) ++wrong;
  };
  using Flags = std::uint32_t&;
  expect(exact::to_integer<F>(a, INT32_MIN, INT32_MAX, mode),
         [=](Flags f) { return fp::soft::to_i32<F>(a, mode, f); });
  expect(exact::to_integer<F>(a, 0, UINT32_MAX, mode),
         [=](Flags f) { return fp::soft::to_u32<F>(a, mode, f); });
  return wrong;
}

template <class F>
int wrong_comparisons(std::uint32_t x, std::uint32_t y) {
  const auto a = static_cast<fp::Bits<F>>(x);
  const auto b = static_cast<fp::Bits<F>>(y);
  const auto order = exact::compare<F>(a, b);
  const std::uint32_t any_nan = order.has_value() ? 0 : fp::kInvalid;
  const std::uint32_t bad_nan =
      exact::signalling<F>(a) || exact::signalling<F>(b) ? fp::kInvalid : 0;
  int wrong = 0;
  const auto expect = [&](const exact::Result& model, auto operation) {
    if (!(soft(operation) == model)) ++wrong;
  };
  using Flags = std::uint32_t&;
  expect({order == 0 ? 1U : 0U, bad_nan}, [=](Flags f) { return fp::eq<F>(a, b, f); });
  expect({order == -1 ? 1U : 0U, any_nan}, [=](Flags f) { return fp::lt<F>(a, b, f); });
  expect({order.value_or(1) <= 0 ? 1U : 0U, any_nan}, [=](Flags f) { return fp::le<F>(a, b, f); });
  expect(exact::extreme<F>(a, b, -1), [=](Flags f) { return fp::min<F>(a, b, f); });
  expect(exact::extreme<F>(a, b, 1), [=](Flags f) { return fp::max<F>(a, b, f); });
  return wrong;
}

template <class F>
int wrong_on_specials() {
  int wrong = 0;
  for (const std::uint32_t a : kSpecials<F>) {
    for (const std::uint32_t b : kSpecials<F>) {
      wrong += wrong_comparisons<F>(a, b);
      for (const std::uint32_t c : kSpecials<F>) {
        for (const Rounding mode : kModes) wrong += wrong_operations<F>(a, b, c, mode);
      }
    }
  }
  return wrong;
}

template <class F>
int wrong_at_random(int count) {
  Values<F> values(11);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t a = values.next();
    const std::uint32_t b = values.next();
    const std::uint32_t c = values.next();
    const Rounding mode = kModes[i % 5];
    wrong += wrong_operations<F>(a, b, c, mode);
    wrong += wrong_conversions<F>(a, mode);
    wrong += wrong_comparisons<F>(a, b);
  }
  return wrong;
}

template <class F>
int wrong_from_integers(int count) {
  std::mt19937_64 random(5);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const auto a = static_cast<std::uint32_t>(random()) >> (random() % 32);
    for (const Rounding mode : kModes) {
      const auto from_i32 = [=](std::uint32_t& f) { return fp::soft::from_i32<F>(a, mode, f); };
      const auto from_u32 = [=](std::uint32_t& f) { return fp::soft::from_u32<F>(a, mode, f); };
      const auto as_signed = static_cast<std::int32_t>(a);
      if (!(soft(from_i32) == exact::from_integer<F>(as_signed, mode))) ++wrong;
      if (!(soft(from_u32) == exact::from_integer<F>(a, mode))) ++wrong;
    }
  }
  return wrong;
}

/// The class bit of a number by the manual's table for fclass.
template <class F>
std::uint32_t expected_class(std::uint32_t a) {
  const bool negative = (a & F::kSign) != 0;
  const std::uint32_t magnitude = a & (F::kSign - 1U);
  if (exact::nan<F>(a)) return exact::signalling<F>(a) ? 0x100 : 0x200;
  if (magnitude == F::kInfinity) return negative ? 0x001 : 0x080;
  if (magnitude == 0) return negative ? 0x008 : 0x010;
  if (magnitude < 1U << (F::kPrecision - 1)) return negative ? 0x004 : 0x020;
  return negative ? 0x002 : 0x040;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("software arithmetic rounds special values as the exact model, in all five modes") {
    CHECK(wrong_on_specials<fp::F16>() == 0);
    CHECK(wrong_on_specials<fp::F32>() == 0);
  }

  TEST_CASE("software arithmetic rounds random values as the exact model, in all five modes") {
    CHECK(wrong_at_random<fp::F16>(400'000) == 0);
    CHECK(wrong_at_random<fp::F32>(400'000) == 0);
    CHECK(wrong_from_integers<fp::F16>(100'000) == 0);
    CHECK(wrong_from_integers<fp::F32>(100'000) == 0);
  }

  TEST_CASE("every f16 value converts and takes its root as the exact model") {
    int wrong = 0;
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
      const auto a = static_cast<std::uint16_t>(i);
      for (const Rounding mode : kModes) {
        wrong += wrong_conversions<fp::F16>(a, mode);
        const auto root = [=](std::uint32_t& f) { return fp::soft::sqrt<fp::F16>(a, mode, f); };
        if (!(soft(root) == exact::sqrt<fp::F16>(a, mode))) ++wrong;
        const auto wide = [=](std::uint32_t& f) {
          return fp::soft::convert<fp::F32, fp::F16>(a, mode, f);
        };
        if (!(soft(wide) == exact::convert<fp::F32, fp::F16>(a, mode))) ++wrong;
      }
      if (fp::classify<fp::F16>(a) != expected_class<fp::F16>(a)) ++wrong;
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("f32 values convert to f16 as the exact model") {
    Values<fp::F32> values(3);
    int wrong = 0;
    for (int i = 0; i < 300'000; ++i) {
      std::uint32_t a = values.next();
      // Every second value is in f16's range and has few bits, so that ties occur.
      if (i % 2 == 0) a = (a & 0x8fff'f000U) | 0x3000'0000U;
      const Rounding mode = kModes[i % 5];
      const auto narrow = [=](std::uint32_t& f) {
        return fp::soft::convert<fp::F16, fp::F32>(a, mode, f);
      };
      if (!(soft(narrow) == exact::convert<fp::F16, fp::F32>(a, mode))) ++wrong;
      if (fp::classify<fp::F32>(a) != expected_class<fp::F32>(a)) ++wrong;
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("a badly boxed value reads as the canonical NaN") {
    CHECK(fp::unbox<fp::F32>(0xffff'ffff'3f80'0000) == 0x3f80'0000);
    CHECK(fp::unbox<fp::F32>(0xffff'fffe'3f80'0000) == fp::F32::kNan);
    CHECK(fp::unbox<fp::F16>(0xffff'ffff'ffff'3c00) == 0x3c00);
    CHECK(fp::unbox<fp::F16>(0xffff'ffff'3f80'0000) == fp::F16::kNan);
    CHECK(fp::box<fp::F32>(0x3f80'0000) == 0xffff'ffff'3f80'0000);
    CHECK(fp::box<fp::F16>(0x3c00) == 0xffff'ffff'ffff'3c00);
  }

  TEST_CASE("sign injection keeps the magnitude, of NaN as well") {
    CHECK(fp::sgnj<fp::F32>(0x7fc0'0001, 0x8000'0000) == 0xffc0'0001);
    CHECK(fp::sgnjn<fp::F32>(0x3f80'0000, 0x8000'0000) == 0x3f80'0000);
    CHECK(fp::sgnjx<fp::F16>(0xbc00, 0x8000) == 0x3c00);
  }
}
