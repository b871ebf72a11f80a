#include "sim/isa/packed/packed.h"

#include <doctest/doctest.h>

#include "sim/isa/float/host_environment.h"
#include "tests/sim/engine/xtile_trials.h"

namespace tessera::engine::test {
namespace {

using Register = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t);

/// Adapters: an operation on one or two registers with the signature of one on three.
template <auto kOperation>
std::uint64_t one(std::uint64_t a, std::uint64_t /*b*/, std::uint64_t /*c*/) {
  return kOperation(a);
}
template <auto kOperation>
std::uint64_t two(std::uint64_t a, std::uint64_t b, std::uint64_t /*c*/) {
  return kOperation(a, b);
}

/// Number of results or flags that differ from the reference: on random registers, every triple of
/// special values, and every f16 value in all lanes.
template <class F>
int wrong_words(Mnemonic m, Register operation) {
  constexpr bool kHalves = reference::kBits<F> == 16;
  constexpr std::uint64_t kOnes = kHalves ? 0x1'0001'0001'0001 : 0x1'0000'0001;
  const Reference& reference = *reference_of(m);
  fp::HostEnvironment host;
  Values<F> values(7);
  Plain plain;
  plain.f.resize(32);
  int wrong = 0;
  const auto compare = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::copy_n(std::array{a, b, c}.begin(), 3, &plain.f[1]);
    plain.flags = 0;
    reference.execute(plain, r_type(m, 4, 1, 2, 3));
    const std::uint64_t word = operation(a, b, c);
    if (host.take_flags() != plain.flags || word != plain.f[4]) ++wrong;
  };
  const auto next = [&] { return reference::word_of<F>([&](unsigned) { return values.next(); }); };
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t a = next();
    const std::uint64_t b = next();
    compare(a, b, next());
  }
  for (const std::uint64_t a : kSpecials<F>)
    for (const std::uint64_t b : kSpecials<F>)
      for (const std::uint64_t c : kSpecials<F>) compare(a * kOnes, b * kOnes, c * kOnes);
  for (std::uint64_t a = 0; kHalves && a < 0x10000; ++a) compare(a * kOnes, a * kOnes, a * kOnes);
  return wrong;
}

struct Case {
  Mnemonic mnemonic;
  Register operation;
};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("registers of four f16 follow the exact model, flags included") {
    for (const Case& each : {Case{add_4h, two<packed::add_4h>},
                             {sub_4h, two<packed::sub_4h>},
                             {mul_4h, two<packed::mul_4h>},
                             {min_4h, two<packed::min_4h>},
                             {max_4h, two<packed::max_4h>},
                             {gt_4h, two<packed::gt_4h>},
                             {fma_4h, packed::fma_4h},
                             {axpy_4h, packed::axpy_4h},
                             {dot2_s_h, packed::dot2_s_h},
                             {unpkl_2s, one<packed::unpkl_2s>},
                             {unpkh_2s, one<packed::unpkh_2s>}}) {
      CAPTURE(name_of(each.mnemonic));
      CHECK(wrong_words<F16>(each.mnemonic, each.operation) == 0);
    }
  }

  TEST_CASE("registers of two f32 follow the exact model, flags included") {
    for (const Case& each : {Case{add_2s, two<packed::add_2s>},
                             {sub_2s, two<packed::sub_2s>},
                             {mul_2s, two<packed::mul_2s>},
                             {min_2s, two<packed::min_2s>},
                             {max_2s, two<packed::max_2s>},
                             {gt_2s, two<packed::gt_2s>},
                             {fma_2s, packed::fma_2s},
                             {axpy_2s, packed::axpy_2s},
                             {sum_2s, one<packed::sum_2s>},
                             {dot2_s_h, packed::dot2_s_h},
                             {pack_4h, two<packed::pack_4h>}}) {
      CAPTURE(name_of(each.mnemonic));
      CHECK(wrong_words<F32>(each.mnemonic, each.operation) == 0);
    }
  }
}

}  // namespace tessera::engine::test
