#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "sim/engine/semantics/integer.h"
#include "sim/isa/packed/integer_unit.h"

/// Xtile: the vector unit. An access that faults changes nothing.
namespace tessera::engine::semantics {

using packed::IntegerUnit;

template <class H>
IntegerUnit& unit(H& h) {
  return *h.context().integers;
}
template <class H>
IntegerUnit::Accumulator& accumulator(H& h) {
  return unit(h).accumulators[h.op().rd];
}

/// Loads consecutive 64-bit words: all at once if accesses are not recorded and the first and last
/// word are valid.
template <class H, std::size_t kCount>
bool load_words(H& h, std::uint32_t address, std::array<std::uint64_t, kCount>& words) {
  const auto last = address + static_cast<std::uint32_t>(8 * (kCount - 1));
  if constexpr (!H::Mode::kRecords) {
    if (load_passes<std::uint64_t>(h.frame(), address) &&
        load_passes<std::uint64_t>(h.frame(), last)) [[likely]] {
      std::memcpy(words.data(), h.memory() + address, sizeof words);
      if constexpr (H::Mode::kQuick) bring(h.frame().next + address);
      return true;
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    if (!h.load(address + static_cast<std::uint32_t>(8 * i), words[i])) return false;
  }
  return true;
}
template <class H>
bool may_store_words(H& h, std::uint32_t address, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!h.template may_store<std::uint64_t>(address + 8 * i)) return false;
  }
  return true;
}
template <class H>
void store_words(H& h, std::uint32_t address, const std::uint64_t* words, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) h.store(address + 8 * i, words[i]);
}

/// Addresses that rs1 and rs2 advance to.
struct Advanced {
  std::uint32_t first;
  std::uint32_t second;
};
template <class H>
Advanced advanced(H& h) {
  const std::uint32_t step = h.context().x[h.op().rs3];
  // The same register for both operands advances twice.
  const std::uint32_t first = h.rs1() + step;
  return {first, (h.op().rs1 == h.op().rs2 && h.op().rs1 != 0 ? first : h.rs2()) + step};
}
template <class H>
void advance_both(H& h) {
  const std::uint32_t step = h.context().x[h.op().rs3];
  h.advance(h.op().rs1, step);
  h.advance(h.op().rs2, step);
}
template <class H>
bool store_half(H& h, const IntegerUnit::Half& half) {
  const std::uint32_t step = h.context().x[h.op().rs3];
  const std::uint32_t to = h.rs1() + step;
  if (!may_store_words(h, to, IntegerUnit::kWords)) return false;
  store_words(h, to, half.data(), IntegerUnit::kWords);
  h.advance(h.op().rs1, step);
  return true;
}
template <class H>
bool store_quarters(H& h, const IntegerUnit::Half& half) {
  constexpr std::uint32_t kQuarter = IntegerUnit::kWords / 2;
  const Advanced to = advanced(h);
  if (!may_store_words(h, to.first, kQuarter) || !may_store_words(h, to.second, kQuarter))
    return false;
  store_words(h, to.first, half.data(), kQuarter);
  store_words(h, to.second, half.data() + kQuarter, kQuarter);
  advance_both(h);
  return true;
}

template <class H>
void execute(Is<amp_b>, H& h) {
  packed::amp_b(accumulator(h), unit(h).halves[h.op().rs1],
                &unit(h).halves[std::size_t{2} * h.op().rs2]);
}
template <class H>
void execute(Is<amp_i16>, H& h) {
  packed::amp_i16(accumulator(h), unit(h).halves[h.op().rs1], unit(h).halves[h.op().rs2]);
}
template <class H>
void execute(Is<amp_bf16>, H& h) {
  packed::amp_bf16(accumulator(h), &unit(h).halves[std::size_t{2} * h.op().rs1],
                   &unit(h).halves[std::size_t{2} * h.op().rs2]);
}
template <class H>
void execute(Is<set_b>, H& h) {
  accumulator(h) = packed::set_b(unit(h).halves[h.op().rs1]);
}
/// Keeps the larger lanes of two vectors, word by word.
template <class H, class Larger>
void take_larger(H& h, const Larger& larger) {
  for (std::size_t side = 0; side < 2; ++side) {
    const auto half = [&](std::uint8_t vector) -> IntegerUnit::Half& {
      return unit(h).halves[std::size_t{2} * vector + side];
    };
    for (std::size_t i = 0; i < IntegerUnit::kWords; ++i)
      half(h.op().rd)[i] = larger(half(h.op().rs1)[i], half(h.op().rs2)[i]);
  }
}
template <class H>
void execute(Is<max_8b>, H& h) {
  take_larger(h, packed::max_8b);
}
template <class H>
void execute(Is<max_i16>, H& h) {
  take_larger(h, packed::max_i16);
}
template <class H>
void execute(Is<max_bf16>, H& h) {
  take_larger(h, packed::max_bf16);
}
template <class H>
void execute(Is<srs_i16>, H& h) {
  unit(h).halves[h.op().rd] =
      packed::requantised_i16(unit(h).accumulators[h.op().rs1], unit(h).mode);
}
template <class H>
void execute(Is<srs_bf16>, H& h) {
  unit(h).halves[h.op().rd] = packed::rounded_bf16(unit(h).accumulators[h.op().rs1], unit(h).mode);
}
template <class H>
void execute(Is<mode_b>, H& h) {
  constexpr std::uint32_t kModeBits = 63;
  unit(h).mode = h.rs1() & kModeBits;
}

template <class H>
bool execute(Is<ldw_b>, H& h) {
  IntegerUnit::Half low;
  IntegerUnit::Half high;
  const std::uint32_t from = h.rs1();
  if (!load_words(h, from, low) || !load_words(h, from + sizeof low, high)) return false;
  unit(h).halves[std::size_t{2} * h.op().rd] = low;
  unit(h).halves[std::size_t{2} * h.op().rd + 1] = high;
  h.advance(h.op().rs1, sizeof low + sizeof high);
  return true;
}
template <class H>
bool execute(Is<ldh_b>, H& h) {
  IntegerUnit::Half half;
  if (!load_words(h, h.rs1(), half)) return false;
  unit(h).halves[h.op().rd] = half;
  h.advance(h.op().rs1, sizeof half);
  return true;
}
template <class H>
bool execute(Is<ld8>, H& h) {
  IntegerUnit::Half low;
  IntegerUnit::Half high;
  const Advanced from = advanced(h);
  if (!load_words(h, from.first, low) || !load_words(h, from.second, high)) return false;
  unit(h).halves[std::size_t{2} * h.op().rd] = low;
  unit(h).halves[std::size_t{2} * h.op().rd + 1] = high;
  advance_both(h);
  return true;
}
template <class H>
bool execute(Is<ld4h>, H& h) {
  std::array<std::uint64_t, 2> low;
  std::array<std::uint64_t, 2> high;
  const Advanced from = advanced(h);
  if (!load_words(h, from.first, low) || !load_words(h, from.second, high)) return false;
  unit(h).halves[h.op().rd] = {low[0], low[1], high[0], high[1]};
  advance_both(h);
  return true;
}
/// Loads words of two places alternately (the second place is rs2 bytes after the first) into
/// vector registers from half number `to` on.
template <std::size_t kCount, class H>
bool load_in_turns(H& h, std::size_t to) {
  std::array<std::uint64_t, kCount> first;
  std::array<std::uint64_t, kCount> second;
  const std::uint32_t step = h.context().x[h.op().rs3];
  const std::uint32_t from = h.rs1() + step;
  if (!load_words(h, from, first) || !load_words(h, from + h.rs2(), second)) return false;
  for (std::size_t i = 0; i < 2 * kCount; ++i)
    unit(h).halves[to + i / IntegerUnit::kWords][i % IntegerUnit::kWords] =
        i % 2 == 0 ? first[i / 2] : second[i / 2];
  h.advance(h.op().rs1, step);
  return true;
}
template <class H>
bool execute(Is<ld8z>, H& h) {
  return load_in_turns<IntegerUnit::kWords>(h, std::size_t{2} * h.op().rd);
}
template <class H>
bool execute(Is<ld4z>, H& h) {
  return load_in_turns<IntegerUnit::kWords / 2>(h, h.op().rd);
}
/// Loads 32 bytes of results and widens them to sums.
template <class H, class Widen>
bool load_results(H& h, const Widen& widen) {
  IntegerUnit::Half half;
  if (!load_words(h, h.rs1(), half)) return false;
  accumulator(h) = widen(half);
  h.advance(h.op().rs1, sizeof half);
  return true;
}
template <class H>
bool execute(Is<ld_b>, H& h) {
  return load_results(h, [&](const auto& half) { return packed::sums_of_i8(half, unit(h).mode); });
}
template <class H>
bool execute(Is<ld_i16>, H& h) {
  return load_results(h, [&](const auto& half) { return packed::sums_of_i16(half, unit(h).mode); });
}
template <class H>
bool execute(Is<ld_bf16>, H& h) {
  return load_results(h, packed::sums_of_bf16);
}
template <class H>
bool execute(Is<ld_acc>, H& h) {
  std::array<std::uint64_t, sizeof(IntegerUnit::Accumulator) / 8> words;
  if (!load_words(h, h.rs1(), words)) return false;
  accumulator(h) = std::bit_cast<IntegerUnit::Accumulator>(words);
  h.advance(h.op().rs1, sizeof words);
  return true;
}
template <class H>
bool execute(Is<st_acc>, H& h) {
  using Words = std::array<std::uint64_t, sizeof(IntegerUnit::Accumulator) / 8>;
  const auto words = std::bit_cast<Words>(accumulator(h));
  if (!may_store_words(h, h.rs1(), words.size())) return false;
  store_words(h, h.rs1(), words.data(), words.size());
  h.advance(h.op().rs1, sizeof words);
  return true;
}

template <class H>
bool execute(Is<st_b>, H& h) {
  return store_half(h, packed::requantised(accumulator(h), unit(h).mode));
}
template <class H>
bool execute(Is<st_bh>, H& h) {
  return store_quarters(h, packed::requantised(accumulator(h), unit(h).mode));
}
template <class H>
bool execute(Is<st_i16>, H& h) {
  return store_half(h, packed::requantised_i16(accumulator(h), unit(h).mode));
}
template <class H>
bool execute(Is<st_bf16>, H& h) {
  return store_half(h, packed::rounded_bf16(accumulator(h), unit(h).mode));
}
template <class H>
bool execute(Is<st4>, H& h) {
  return store_half(h, unit(h).halves[h.op().rd]);
}
template <class H>
bool execute(Is<st4h>, H& h) {
  return store_quarters(h, unit(h).halves[h.op().rd]);
}

}  // namespace tessera::engine::semantics
