#include "sim/isa/packed/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/isa/float/host_environment.h"
#include "sim/isa/packed/amp_block.h"
#include "sim/isa/packed/lanes.h"
#include "tests/sim/engine/reference_table.h"
#include "tests/sim/isa/packed/banks.h"

using namespace tessera;  // NOLINT(google-build-using-namespace)
using engine::test::Plain;
using engine::test::reference::amp_phase;
using test::Banks;

namespace {

using Instruction = std::uint64_t (*)(const packed::AmpShape&, packed::Banks&, const float*,
                                      std::uint64_t, std::uint64_t, unsigned);
using Model = std::uint64_t (*)(Plain&, unsigned, unsigned, std::uint64_t, std::uint64_t, unsigned);

/// A matrix instruction in one shape, and its model.
struct Kind {
  packed::AmpShape shape;
  Instruction instruction;
  Model model;

  [[nodiscard]] bool half_inputs() const { return shape.kind != packed::AmpKind::s; }
  [[nodiscard]] bool half_partials() const { return shape.kind == packed::AmpKind::h; }
  [[nodiscard]] unsigned weights() const { return shape.inputs * shape.outputs; }
};
Kind h(unsigned inputs, unsigned outputs) {
  return {{packed::AmpKind::h, inputs, outputs}, packed::amp_h, amp_phase<fp::F16, fp::F16>};
}
Kind hs(unsigned inputs, unsigned outputs) {
  return {{packed::AmpKind::hs, inputs, outputs}, packed::amp_hs, amp_phase<fp::F16, fp::F32>};
}
Kind s(unsigned inputs, unsigned outputs) {
  return {{packed::AmpKind::s, inputs, outputs}, packed::amp_s, amp_phase<fp::F32, fp::F32>};
}
/// The usual shapes are first.
const std::vector<Kind> kKinds = {h(16, 16), hs(16, 8), s(8, 16),  h(16, 8), h(8, 16),
                                  h(4, 16),  h(64, 4),  h(64, 64), hs(4, 8), hs(32, 4),
                                  hs(8, 16), s(4, 8),   s(8, 8),   s(16, 4), s(64, 64)};

bool alike(const Plain& plain, const Banks& banks) {
  const auto bits = banks.bits();
  return std::equal(plain.acc.begin(), plain.acc.end(), bits.begin()) &&
         std::equal(plain.exc.begin(), plain.exc.end(), bits.begin() + Banks::kSums);
}

/// Words of f16 or f32 lanes. Most are finite, since a NaN remains in a sum for good; `specials` of
/// 256 lanes are infinities, NaNs, zeros and subnormals.
class Lanes {
 public:
  Lanes(bool half, unsigned specials) : half_(half), specials_(specials), random_(3) {}
  std::uint64_t next() {
    return half_ ? packed::join_h(half(), half(), half(), half())
                 : packed::join_s(single(), single());
  }

 private:
  std::uint16_t half() {
    constexpr std::uint16_t kEdges[] = {0, 1, 0x3ff, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff};
    const std::uint64_t r = random_();
    if ((r >> 16 & 255) < specials_)
      return static_cast<std::uint16_t>((r & 0x8000) | kEdges[r >> 61]);
    return static_cast<std::uint16_t>(r & ~std::uint64_t{(r >> 30 & 7) == 0 ? 0x4000U : 0x400U});
  }
  std::uint32_t single() {
    constexpr std::uint32_t kEdges[] = {0,          1,          0x007fffff, 0x7f7fffff,
                                        0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff};
    const std::uint64_t r = random_();
    const auto sign = static_cast<std::uint32_t>(r & 0x8000'0000U);
    if ((r >> 32 & 255) < specials_) return sign | kEdges[r >> 61];
    const auto exponent = static_cast<std::uint32_t>(120 + (r >> 40 & 15));
    return sign | exponent << 23 | static_cast<std::uint32_t>(r & 0x7fffff);
  }

  bool half_;
  unsigned specials_;
  std::mt19937_64 random_;
};

std::vector<std::uint64_t> make_weights(const Kind& kind, Lanes& lanes) {
  std::vector<std::uint64_t> words(kind.weights() / 2);
  for (std::uint64_t& word : words) word = lanes.next();
  return words;
}

/// Checks random instruction streams, each with a new W and new banks; returns the wrong ones.
int wrong_streams(const Kind& kind, int streams, int length, unsigned specials) {
  fp::HostEnvironment host;
  Lanes inputs(kind.half_inputs(), specials);
  Lanes partials(kind.half_partials(), specials);
  std::mt19937 random(9);
  int wrong = 0;
  for (int s = 0; s < streams; ++s) {
    const auto words = make_weights(kind, inputs);
    Plain plain{.weights = words};
    plain.acc.resize(Banks::kSums);
    plain.exc.resize(Banks::kSums);
    Banks banks;
    packed::WeightCache cache;
    const float* rows = cache.rows(kind.shape.kind, kind.weights(), words.data());
    for (int i = 0; i < length; ++i) {
      const auto phase = static_cast<unsigned>(random() % kind.shape.phases);
      const auto number = static_cast<unsigned>(packed::amp_number(phase) | (random() & 24U));
      const std::uint64_t x = inputs.next();
      const std::uint64_t p = partials.next();
      const std::uint64_t got = kind.instruction(kind.shape, banks.view, rows, x, p, number);
      if (got != kind.model(plain, kind.shape.inputs, kind.shape.outputs, x, p, number)) ++wrong;
      if (host.take_flags() != std::exchange(plain.flags, 0U)) ++wrong;
    }
    if (!alike(plain, banks)) ++wrong;
  }
  return wrong;
}

/// Compares whole rows of activations with single instructions; partials are updated in place.
int wrong_positions(const Kind& kind, std::size_t count, unsigned specials) {
  const packed::AmpShape& shape = kind.shape;
  fp::HostEnvironment host;
  Lanes inputs(kind.half_inputs(), specials);
  Lanes lanes(kind.half_partials(), specials);
  const auto words = make_weights(kind, inputs);
  std::vector<std::uint64_t> x(shape.x_words * count);
  std::vector<std::uint64_t> partials(shape.partial_words * count);
  for (auto& word : x) word = inputs.next();
  for (auto& word : partials) word = lanes.next();
  packed::WeightCache cache;
  const float* rows = cache.rows(shape.kind, kind.weights(), words.data());
  Banks one;
  Banks many;
  // As amp.b may leave them: a NaN that is signalling and not canonical.
  for (Banks* banks : {&one, &many})
    if (specials > 1) banks->view.acc[3] = banks->view.exc[2] = std::bit_cast<float>(0xffa0'0001);
  std::vector<std::uint64_t> expected(partials.size());
  for (std::size_t i = 0; i < count * shape.phases; ++i) {
    const auto phase = static_cast<unsigned>(i % shape.phases);
    const std::size_t word = i / shape.phases * shape.partial_words + phase;
    const bool moves = phase < shape.partial_words;
    const std::uint64_t result = kind.instruction(
        shape, one.view, rows, x[i / (shape.phases / shape.x_words)], moves ? partials[word] : 0,
        packed::amp_number(phase) | (phase == 0 ? packed::kAmpStart : 0));
    if (moves) expected[word] = result;
  }
  const std::uint32_t flags = host.take_flags();
  packed::amp_positions(shape, many.view, rows, count, reinterpret_cast<const std::byte*>(x.data()),
                        reinterpret_cast<const std::byte*>(partials.data()),
                        reinterpret_cast<std::byte*>(partials.data()));
  int wrong = host.take_flags() != flags ? 1 : 0;
  if (!(one == many)) ++wrong;
  if (partials != expected) ++wrong;
  return wrong;
}

#if TESSERA_HOST_FLOAT
/// Compares the AVX2 and AVX-512 blocks on the same operands; returns the number of differences.
int wrong_block(packed::AmpBlock a, packed::AmpBlock b, const Kind& kind, unsigned specials) {
  fp::HostEnvironment host;
  Lanes inputs(kind.half_inputs(), specials);
  Lanes lanes(kind.half_partials(), specials);
  int wrong = 0;
  for (int k = 0; k < 2000; ++k) {
    const auto words = make_weights(kind, inputs);
    std::array<std::uint64_t, 32> x{};
    std::array<std::uint64_t, 64> partials{};
    std::array<std::uint64_t, 64> out[2] = {};
    for (auto& word : x) word = inputs.next();
    for (auto& word : partials) word = lanes.next();
    packed::WeightCache cache;
    const float* rows = cache.rows(kind.shape.kind, kind.weights(), words.data());
    Banks banks[2];
    bool ok[2];
    std::uint32_t flags[2];
    for (int v = 0; v < 2; ++v) {
      ok[v] = (v == 0 ? a : b)(banks[v].view.acc, banks[v].view.exc, rows,
                               reinterpret_cast<const std::byte*>(x.data()),
                               reinterpret_cast<const std::byte*>(partials.data()),
                               reinterpret_cast<std::byte*>(out[v].data()));
      flags[v] = host.take_flags();
    }
    if (ok[0] != ok[1] || out[0] != out[1] || !(banks[0] == banks[1])) ++wrong;
    if (ok[0] && flags[0] != flags[1]) ++wrong;
  }
  return wrong;
}
#endif

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("amp.h, amp.hs and amp.s follow the exact model, flags and banks included") {
    for (const Kind& kind : kKinds) {
      CAPTURE(kind.shape.inputs);
      CAPTURE(kind.shape.outputs);
      const int share = static_cast<int>(256 / kind.weights());
      const int streams = kind.shape.usual ? 20'000 : 500 + 2000 * share;
      CHECK(wrong_streams(kind, streams, 36, 0) == 0);
      CHECK(wrong_streams(kind, streams, 8, 16) == 0);
    }
  }

  TEST_CASE("whole positions equal single instructions, also in place and with NaNs") {
    for (const Kind& kind : kKinds) {
      for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 12U, 17U, 100U, 1000U}) {
        CAPTURE(kind.shape.outputs);
        CAPTURE(count);
        CHECK(wrong_positions(kind, count, 0) == 0);
        CHECK(wrong_positions(kind, count, 1) == 0);
        CHECK(wrong_positions(kind, count, 64) == 0);
      }
    }
  }

#if TESSERA_HOST_FLOAT
  TEST_CASE("AVX2 and AVX-512 agree") {
    if (!packed::host_has_avx512()) return;
    for (const unsigned specials : {0U, 1U}) {
      for (std::size_t size = 1; size < std::size(packed::kBlockSizes); ++size) {
        const packed::AmpBlocks narrow = packed::avx2_blocks();
        const packed::AmpBlocks wide = packed::avx512_blocks();
        CHECK(wrong_block(narrow.h[size], wide.h[size], h(16, 16), specials) == 0);
        CHECK(wrong_block(narrow.s[size], wide.s[size], s(8, 16), specials) == 0);
      }
    }
  }
#endif

  TEST_CASE("writing in step overtakes reading only from a little ahead") {
    CHECK(!packed::overtakes(0, 0, 64));
    CHECK(!packed::overtakes(0, 32, 64));
    CHECK(packed::overtakes(32, 0, 64));
    CHECK(!packed::overtakes(64, 0, 64));
  }
}
