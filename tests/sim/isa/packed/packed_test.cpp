#include "sim/isa/packed/packed.h"

#include <doctest/doctest.h>

#include "tests/sim/isa/float/exact.h"
#include "tests/sim/isa/float/values.h"

using namespace tessera;  // NOLINT(google-build-using-namespace)

namespace {

using fp::F16;
using fp::F32;

constexpr auto kNearest = fp::Rounding::rne;
constexpr int kCases = 1'000'000;

/// 64-bit registers of lanes as Values<F> draws them.
template <class F>
class Registers {
 public:
  std::uint64_t next() {
    std::uint64_t word = 0;
    for (unsigned bit = 0; bit < 64; bit += kBits) word |= std::uint64_t{values_.next()} << bit;
    return word;
  }
  static constexpr unsigned kBits = sizeof(fp::Bits<F>) * 8;

 private:
  Values<F> values_{7};
};

struct Expected {
  std::uint64_t word = 0;
  std::uint32_t flags = 0;
};

/// Applies an exact operation on single lanes to whole registers.
template <class F, class Operation>
Expected by_lanes(Operation operation, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  Expected expected;
  for (unsigned bit = 0; bit < 64; bit += Registers<F>::kBits) {
    const auto lane = [=](std::uint64_t word) { return static_cast<fp::Bits<F>>(word >> bit); };
    const exact::Result result = operation(lane(a), lane(b), lane(c));
    expected.word |= std::uint64_t{result.bits} << bit;
    expected.flags |= result.flags;
  }
  return expected;
}

using Register = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t);

/// Random registers, and one word for each triple of special values in all lanes.
template <class F, class Model>
int wrong_words(Register operation, Model model) {
  fp::HostEnvironment host;
  Registers<F> registers;
  int wrong = 0;
  const auto compare = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const Expected expected = model(a, b, c);
    const std::uint64_t word = operation(a, b, c);
    if (host.take_flags() != expected.flags || word != expected.word) ++wrong;
  };
  for (int i = 0; i < kCases; ++i) {
    const std::uint64_t a = registers.next();
    const std::uint64_t b = registers.next();
    compare(a, b, registers.next());
  }
  const std::uint64_t ones = Registers<F>::kBits == 16 ? 0x1'0001'0001'0001 : 0x1'0000'0001;
  for (const std::uint64_t a : kSpecials<F>) {
    for (const std::uint64_t b : kSpecials<F>) {
      for (const std::uint64_t c : kSpecials<F>) compare(a * ones, b * ones, c * ones);
    }
  }
  return wrong;
}

/// Counts the wrong results of an operation on single lanes.
template <class F, class Operation>
int wrong_lanes(Register operation, Operation lane) {
  return wrong_words<F>(operation, [=](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return by_lanes<F>(lane, a, b, c);
  });
}

template <class F>
exact::Result greater(std::uint32_t a, std::uint32_t b) {
  const auto order = exact::compare<F>(a, b);
  if (!order.has_value()) return {0, fp::kInvalid};
  return {*order > 0 ? static_cast<fp::Bits<F>>(~0U) : 0U, 0};
}

/// dot2.s.h by its definition.
Expected dot2(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  Expected expected;
  const auto widen = [&](std::uint16_t half) {
    const exact::Result result = exact::convert<F32, F16>(half, kNearest);
    expected.flags |= result.flags;
    return result.bits;
  };
  for (unsigned l = 0; l < 2; ++l) {
    std::uint32_t sum = packed::lane_s(c, l);
    for (unsigned k = 2 * l; k < 2 * l + 2; ++k) {
      const std::uint32_t x = widen(packed::lane_h(a, k));
      const std::uint32_t y = widen(packed::lane_h(b, k));
      const exact::Result result = exact::fma<F32>(x, y, sum, kNearest);
      expected.flags |= result.flags;
      sum = result.bits;
    }
    expected.word |= std::uint64_t{sum} << 32 * l;
  }
  return expected;
}

Expected pack(std::uint64_t a, std::uint64_t b, std::uint64_t /*c*/) {
  Expected expected;
  const std::uint32_t lanes[] = {packed::lane_s(a, 0), packed::lane_s(a, 1), packed::lane_s(b, 0),
                                 packed::lane_s(b, 1)};
  for (unsigned l = 0; l < 4; ++l) {
    const exact::Result result = exact::convert<F16, F32>(lanes[l], kNearest);
    expected.word |= std::uint64_t{result.bits} << 16 * l;
    expected.flags |= result.flags;
  }
  return expected;
}

/// Lanes `first` and `first` + 1 widened.
Expected unpack(std::uint64_t a, unsigned first) {
  const exact::Result low = exact::convert<F32, F16>(packed::lane_h(a, first), kNearest);
  const exact::Result high = exact::convert<F32, F16>(packed::lane_h(a, first + 1), kNearest);
  return {packed::join_s(low.bits, high.bits), low.flags | high.flags};
}

/// add, sub, mul, min, max, gt and fma of one format on exact lanes.
template <class F>
struct Model {
  static exact::Result add(std::uint32_t a, std::uint32_t b, std::uint32_t /*c*/) {
    return exact::add<F>(a, b, kNearest);
  }
  static exact::Result sub(std::uint32_t a, std::uint32_t b, std::uint32_t /*c*/) {
    return exact::add<F>(a, b ^ F::kSign, kNearest);
  }
  static exact::Result mul(std::uint32_t a, std::uint32_t b, std::uint32_t /*c*/) {
    return exact::mul<F>(a, b, kNearest);
  }
  static exact::Result min(std::uint32_t a, std::uint32_t b, std::uint32_t /*c*/) {
    return exact::extreme<F>(a, b, -1);
  }
  static exact::Result max(std::uint32_t a, std::uint32_t b, std::uint32_t /*c*/) {
    return exact::extreme<F>(a, b, 1);
  }
  static exact::Result gt(std::uint32_t a, std::uint32_t b, std::uint32_t /*c*/) {
    return greater<F>(a, b);
  }
  static exact::Result fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return exact::fma<F>(a, b, c, kNearest);
  }
};

/// An operation of two registers as one of three.
template <auto Operation>
std::uint64_t two(std::uint64_t a, std::uint64_t b, std::uint64_t /*c*/) {
  return Operation(a, b);
}
template <auto Operation>
std::uint64_t one(std::uint64_t a, std::uint64_t /*b*/, std::uint64_t /*c*/) {
  return Operation(a);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("four f16 lanes follow the exact model, flags included") {
    using Exact = Model<F16>;
    CHECK(wrong_lanes<F16>(two<packed::add_4h>, Exact::add) == 0);
    CHECK(wrong_lanes<F16>(two<packed::sub_4h>, Exact::sub) == 0);
    CHECK(wrong_lanes<F16>(two<packed::mul_4h>, Exact::mul) == 0);
    CHECK(wrong_lanes<F16>(two<packed::min_4h>, Exact::min) == 0);
    CHECK(wrong_lanes<F16>(two<packed::max_4h>, Exact::max) == 0);
    CHECK(wrong_lanes<F16>(two<packed::gt_4h>, Exact::gt) == 0);
    CHECK(wrong_lanes<F16>(packed::fma_4h, Exact::fma) == 0);
    const auto axpy = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
      return by_lanes<F16>(Exact::fma, packed::splat_h(a), b, c);
    };
    CHECK(wrong_words<F16>(packed::axpy_4h, axpy) == 0);
  }

  TEST_CASE("two f32 lanes follow the exact model, flags included") {
    using Exact = Model<F32>;
    CHECK(wrong_lanes<F32>(two<packed::add_2s>, Exact::add) == 0);
    CHECK(wrong_lanes<F32>(two<packed::sub_2s>, Exact::sub) == 0);
    CHECK(wrong_lanes<F32>(two<packed::mul_2s>, Exact::mul) == 0);
    CHECK(wrong_lanes<F32>(two<packed::min_2s>, Exact::min) == 0);
    CHECK(wrong_lanes<F32>(two<packed::max_2s>, Exact::max) == 0);
    CHECK(wrong_lanes<F32>(two<packed::gt_2s>, Exact::gt) == 0);
    CHECK(wrong_lanes<F32>(packed::fma_2s, Exact::fma) == 0);
    const auto axpy = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
      return by_lanes<F32>(Exact::fma, packed::splat_s(a), b, c);
    };
    CHECK(wrong_words<F32>(packed::axpy_2s, axpy) == 0);
    const auto sum = [](std::uint64_t a, std::uint64_t, std::uint64_t) {
      const auto result = exact::add<F32>(packed::lane_s(a, 0), packed::lane_s(a, 1), kNearest);
      return Expected{fp::box<F32>(result.bits), result.flags};
    };
    CHECK(wrong_words<F32>(one<packed::sum_2s>, sum) == 0);
  }

  TEST_CASE("instructions between f16 and f32 follow the exact model, flags included") {
    CHECK(wrong_words<F16>(packed::dot2_s_h, dot2) == 0);
    CHECK(wrong_words<F32>(packed::dot2_s_h, dot2) == 0);
    CHECK(wrong_words<F32>(two<packed::pack_4h>, pack) == 0);
    const auto low = [](std::uint64_t a, std::uint64_t, std::uint64_t) { return unpack(a, 0); };
    const auto high = [](std::uint64_t a, std::uint64_t, std::uint64_t) { return unpack(a, 2); };
    CHECK(wrong_words<F16>(one<packed::unpkl_2s>, low) == 0);
    CHECK(wrong_words<F16>(one<packed::unpkh_2s>, high) == 0);
  }

  TEST_CASE("each f16 value alone in a register follows the exact model") {
    fp::HostEnvironment host;
    int wrong = 0;
    for (std::uint32_t a = 0; a < 0x10000; ++a) {
      const Expected expected = unpack(a, 0);
      if (packed::unpkl_2s(a) != expected.word || host.take_flags() != expected.flags) ++wrong;
      const auto doubled =
          by_lanes<F16>(Model<F16>::add, packed::splat_h(a), packed::splat_h(a), 0);
      const std::uint64_t got = packed::add_4h(packed::splat_h(a), packed::splat_h(a));
      if (got != doubled.word || host.take_flags() != doubled.flags) ++wrong;
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("lanes move without a change, NaN payloads included") {
    constexpr std::uint64_t kA = 0x7c01'2222'7fa0'0001;
    constexpr std::uint64_t kB = 0x5555'6666'7777'8888;
    CHECK(packed::splat_h(kA) == 0x0001'0001'0001'0001);
    CHECK(packed::splat_s(kA) == 0x7fa0'0001'7fa0'0001);
    CHECK(packed::zip_h_low(kA, kB) == 0x7777'7fa0'8888'0001);
    CHECK(packed::zip_h_high(kA, kB) == 0x5555'7c01'6666'2222);
    CHECK(packed::zip_s_low(kA, kB) == 0x7777'8888'7fa0'0001);
    CHECK(packed::zip_s_high(kA, kB) == 0x5555'6666'7c01'2222);
    CHECK(packed::sel(0xffff'0000'ffff'0000, kA, kB) == 0x7c01'6666'7fa0'8888);
    CHECK(packed::mask_2s(0x8000'0000'7fff'ffff) == 2);
    CHECK(packed::mask_2s(0x7fff'ffff'8000'0000) == 1);
  }
}
