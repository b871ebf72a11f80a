#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/sim/engine/assembled.h"
#include "tests/sim/isa/float/exact.h"

/// Xtile as the ISA page specifies it, one lane at a time in exact arithmetic, and the base
/// instructions that a handler may combine with a neighbour. Shares only the instruction table and
/// the decoded form with the engine.
namespace tessera::engine::test {

using fp::F16;
using fp::F32;

/// State of one context.
struct Plain {
  std::vector<std::uint32_t> x;
  std::vector<std::uint64_t> f;
  std::vector<std::byte> memory;
  std::uint32_t code_end = 0;
  std::vector<std::uint64_t> weights;
  std::vector<std::uint32_t> acc, exc;
  std::vector<std::uint8_t> vectors;  ///< bytes of v0 to v11
  std::vector<std::int32_t> sums;     ///< values of acc0 to acc7
  std::uint32_t mode = 0;
  std::uint64_t random[2] = {};
  std::uint32_t flags = 0;
  bool faults = false;     ///< an access that the engine rejects
  bool undecided = false;  ///< an activation too close to the midpoint of two numbers

  template <class T>
  T load(std::uint32_t address) {
    T value{};
    faults |= address % sizeof(T) != 0 || address > memory.size() - sizeof(T);
    if (!faults) std::memcpy(&value, memory.data() + address, sizeof(T));
    return value;
  }
  template <class T>
  void store(std::uint32_t address, T value) {
    faults |= address % sizeof(T) != 0 || address > memory.size() - sizeof(T) || address < code_end;
    if (!faults) std::memcpy(memory.data() + address, &value, sizeof(T));
  }
  void advance(std::uint32_t number, std::uint32_t bytes) { set_x(number, x[number] + bytes); }
  void set_x(std::uint32_t number, std::uint32_t value) {
    if (number != 0) x[number] = value;
  }
  std::uint32_t take(const exact::Result& result) {
    flags |= result.flags;
    return result.bits;
  }
};

namespace reference {

constexpr auto kNearest = fp::Rounding::rne;
using I = const Instruction&;

template <class F>
constexpr unsigned kBits = sizeof(fp::Bits<F>) * 8;
template <class F>
constexpr unsigned kLanes = 64 / kBits<F>;

template <class F>
std::uint32_t lane(std::uint64_t word, unsigned l) {
  return static_cast<fp::Bits<F>>(word >> kBits<F> * l);
}
template <class F>
std::uint64_t boxed(std::uint32_t bits) {
  return ~((std::uint64_t{1} << kBits<F>)-1) | bits;
}
/// As base instructions read it: an incorrectly boxed value is the canonical NaN.
inline std::uint32_t unboxed(std::uint64_t word) {
  return word >> 32 == ~0U ? lane<F32>(word, 0) : F32::kNan;
}
/// A word with of(l) in each lane l.
template <class F, class Of>
std::uint64_t word_of(Of of) {
  std::uint64_t word = 0;
  for (unsigned l = 0; l < kLanes<F>; ++l) word |= std::uint64_t{of(l)} << kBits<F> * l;
  return word;
}

template <class F>
exact::Result add_of(std::uint32_t a, std::uint32_t b) {
  return exact::add<F>(a, b, kNearest);
}
template <class F>
exact::Result sub_of(std::uint32_t a, std::uint32_t b) {
  return exact::add<F>(a, b ^ F::kSign, kNearest);
}
template <class F>
exact::Result mul_of(std::uint32_t a, std::uint32_t b) {
  return exact::mul<F>(a, b, kNearest);
}
template <class F>
exact::Result min_of(std::uint32_t a, std::uint32_t b) {
  return exact::extreme<F>(a, b, -1);
}
template <class F>
exact::Result max_of(std::uint32_t a, std::uint32_t b) {
  return exact::extreme<F>(a, b, 1);
}
template <class F>
exact::Result gt_of(std::uint32_t a, std::uint32_t b) {
  const std::optional<int> order = exact::compare<F>(a, b);
  const std::uint32_t ones = F::kSign | (F::kSign - 1U);
  return {order == 1 ? ones : 0, order ? 0 : fp::kInvalid};
}
inline exact::Result wide(std::uint32_t half) { return exact::convert<F32, F16>(half, kNearest); }
inline exact::Result narrow(std::uint32_t a) { return exact::convert<F16, F32>(a, kNearest); }

template <class F, exact::Result (*kOf)(std::uint32_t, std::uint32_t)>
void two(Plain& s, I i) {
  const std::uint64_t a = s.f[i.rs1], b = s.f[i.rs2];
  s.f[i.rd] = word_of<F>([&](unsigned l) { return s.take(kOf(lane<F>(a, l), lane<F>(b, l))); });
}
/// `kScalar`: the first factor's lane 0 is used for all lanes.
template <class F, bool kScalar>
void fused_sum(Plain& s, I i) {
  const std::uint64_t a = s.f[i.rs1], b = s.f[i.rs2], c = s.f[i.rs3];
  s.f[i.rd] = word_of<F>([&](unsigned l) {
    const std::uint32_t factor = lane<F>(a, kScalar ? 0 : l);
    return s.take(exact::fma<F>(factor, lane<F>(b, l), lane<F>(c, l), kNearest));
  });
}
template <class F>
void zip(Plain& s, I i) {
  const std::uint64_t from[2] = {s.f[i.rs1], s.f[i.rs2]};
  const auto half = [&](unsigned first) {
    return word_of<F>([&](unsigned l) { return lane<F>(from[l % 2], first + l / 2); });
  };
  s.f[i.rd] = half(0);
  s.f[i.rs3] = half(kLanes<F> / 2);
}
template <class F>
void splat(Plain& s, I i) {
  const std::uint32_t low = lane<F>(s.f[i.rs1], 0);
  s.f[i.rd] = word_of<F>([&](unsigned) { return low; });
}
template <unsigned kFirst>
void unpack(Plain& s, I i) {
  const std::uint64_t a = s.f[i.rs1];
  s.f[i.rd] = word_of<F32>([&](unsigned l) { return s.take(wide(lane<F16>(a, kFirst + l))); });
}
inline void pack(Plain& s, I i) {
  const std::uint64_t from[2] = {s.f[i.rs1], s.f[i.rs2]};
  s.f[i.rd] =
      word_of<F16>([&](unsigned l) { return s.take(narrow(lane<F32>(from[l / 2], l % 2))); });
}
inline void dot2(Plain& s, I i) {
  const std::uint64_t a = s.f[i.rs1], b = s.f[i.rs2], c = s.f[i.rs3];
  s.f[i.rd] = word_of<F32>([&](unsigned l) {
    std::uint32_t sum = lane<F32>(c, l);
    for (unsigned k = 2 * l; k < 2 * l + 2; ++k) {
      const std::uint32_t x = s.take(wide(lane<F16>(a, k))), y = s.take(wide(lane<F16>(b, k)));
      sum = s.take(exact::fma<F32>(x, y, sum, kNearest));
    }
    return sum;
  });
}

/// The register contents after loading a value: NaN-boxed to 64 bits.
inline std::uint64_t raised(std::uint16_t value) { return boxed<F16>(value); }
inline std::uint64_t raised(std::uint32_t value) { return boxed<F32>(value); }
inline std::uint64_t raised(std::uint64_t value) { return value; }

/// Loads, advances the base, then writes the loaded value.
template <class T, bool kToX>
void load_on(Plain& s, I i) {
  const T value = s.load<T>(s.x[i.rs1]);
  s.advance(i.rs1, static_cast<std::uint32_t>(i.imm));
  if constexpr (kToX)
    s.set_x(i.rd, value);
  else
    s.f[i.rd] = raised(value);
}
template <class T, bool kFromX>
void store_on(Plain& s, I i) {
  s.store<T>(s.x[i.rs1], static_cast<T>(kFromX ? s.x[i.rs2] : s.f[i.rs2]));
  s.advance(i.rs1, static_cast<std::uint32_t>(i.imm));
}
template <class T>
std::uint32_t place_of(Plain& s, I i) {
  return s.x[i.rs1] + std::uint32_t{sizeof(T)} * s.load<std::uint16_t>(s.x[i.rs2]);
}
template <class T, unsigned kAdvance>
void gather(Plain& s, I i) {
  const T value = s.load<T>(place_of<T>(s, i));
  s.advance(i.rs2, kAdvance);
  s.f[i.rd] = raised(value);
}
template <class T>
void scatter(Plain& s, I i) {
  s.store<T>(place_of<T>(s, i), static_cast<T>(s.f[i.rd]));
  s.advance(i.rs2, 2);
}
inline void load_two(Plain& s, I i) {
  const auto one = s.load<std::uint64_t>(s.x[i.rs1]), other = s.load<std::uint64_t>(s.x[i.rs2]);
  s.advance(i.rs1, 8);
  s.advance(i.rs2, 8);
  s.f[i.rd] = one;
  s.f[i.rs3] = other;
}
inline void load_store(Plain& s, I i) {
  const auto loaded = s.load<std::uint64_t>(s.x[i.rs1]);
  s.store(s.x[i.rs2], s.f[i.rs3]);
  s.advance(i.rs1, 8);
  s.advance(i.rs2, 8);
  s.f[i.rd] = loaded;
}
inline void load_two_store(Plain& s, I i) {
  const auto one = s.load<std::uint64_t>(s.x[28]), other = s.load<std::uint64_t>(s.x[29]);
  s.store(s.x[30], s.f[i.rs2]);
  for (const std::uint32_t t : {28U, 29U, 30U}) s.advance(t, 8);
  s.f[i.rd] = one;
  s.f[i.rs3] = other;
}
inline void load_four(Plain& s, I i) {
  for (std::uint32_t k = 0; k < 4; ++k) s.f[i.rd + k] = s.load<std::uint64_t>(s.x[i.rs1] + 8 * k);
  s.advance(i.rs1, 32);
}

/// In long double, rounded once. Values within 2^-9 of a last place of the midpoint stay undecided:
/// the definition errs by 2^-13 (activation.h), the host's functions by at most 2^-35.
template <long double (*kOf)(long double)>
void activation(Plain& s, I i) {
  const long double exact_value = kOf(std::bit_cast<float>(unboxed(s.f[i.rs1])));
  const auto rounded = static_cast<float>(exact_value);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(rounded);
  if (std::isnan(rounded)) bits = F32::kNan;
  if (std::isfinite(rounded) && std::isfinite(exact_value)) {
    const long double place = std::ldexp(1.0L, std::max(std::ilogb(exact_value), -126) - 23);
    const long double off = std::abs(exact_value - rounded) / place;
    s.undecided |= exact_value != 0 && std::abs(off - 0.5L) < 0x1p-9L;
  }
  s.f[i.rd] = boxed<F32>(bits);
}
inline long double exp2_of(long double v) { return std::exp2(v); }
inline long double log2_of(long double v) { return v == 0 ? -HUGE_VALL : std::log2(v); }
inline long double tanh_of(long double v) { return std::tanh(v); }
inline long double sigmoid_of(long double v) { return 1 / (1 + std::exp(-v)); }
inline long double rsqrt_of(long double v) { return 1 / std::sqrt(v); }

/// xoroshiro128+ 1.0 (Blackman and Vigna), with the constants 24, 16 and 37.
inline void next_random(Plain& s, I i) {
  const auto turned = [](std::uint64_t v, unsigned by) { return v << by | v >> (64 - by); };
  const std::uint64_t s0 = s.random[0], s1 = s.random[1];
  s.f[i.rd] = s0 + s1;
  s.random[0] = turned(s0, 24) ^ (s1 ^ s0) ^ (s1 ^ s0) << 16;
  s.random[1] = turned(s1 ^ s0, 37);
}

}  // namespace reference
}  // namespace tessera::engine::test
