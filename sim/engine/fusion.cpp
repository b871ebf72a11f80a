#include "sim/engine/fusion.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/engine/step.h"

namespace tessera::engine {
namespace {

using enum isa::Mnemonic;
using isa::Mnemonic;

// What inner loops consist of. Every pair is made, so each addition costs some 60 small handlers.
constexpr Mnemonic kHot[] = {addi, add,   slli,  srli,  andi,    xor_,   sh2add, lw,
                             lbu,  sw,    flw,   fsw,   fmadd_s, fmul_s, fadd_s, fld,
                             fsd,  flw_p, fsw_p, fld_p, fsd_p,   fma_2s, axpy_2s};
constexpr Mnemonic kHotBranches[] = {beq, bne, blt, bge, bltu, bgeu, bdnz};
constexpr std::size_t kFirsts = std::size(kHot);
constexpr std::size_t kSeconds = kFirsts + std::size(kHotBranches);

constexpr Mnemonic second(std::size_t i) {
  return i < kFirsts ? kHot[i] : kHotBranches[i - kFirsts];
}

constexpr std::uint8_t kNone = 255;
constexpr auto kNumber = [] {
  std::array<std::uint8_t, isa::kMnemonics> number{};
  number.fill(kNone);
  for (std::size_t i = 0; i < kSeconds; ++i) {
    number[isa::index(second(i))] = static_cast<std::uint8_t>(i);
  }
  return number;
}();

template <std::size_t... I>
constexpr auto make_pairs(std::index_sequence<I...>) {
  return std::array<Handler, sizeof...(I)>{
      sequence<Fast, kHot[I / kSeconds], second(I % kSeconds)>...};
}
constexpr auto kPairs = make_pairs(std::make_index_sequence<kFirsts * kSeconds>{});

Handler pair(Mnemonic first, Mnemonic next) {
  const std::size_t i = kNumber[isa::index(first)];
  const std::size_t j = kNumber[isa::index(next)];
  return i < kFirsts && j < kSeconds ? kPairs[i * kSeconds + j] : nullptr;
}

template <Mnemonic... M>
constexpr Fusion kFused = {{M...}, sizeof...(M), sequence<Fast, M...>};

// What compilers make of inner loops, longest first.
constexpr Fusion kLong[] = {
    // bodies: elements of arrays, gathered elements, table look-ups
    kFused<lw, flw, sh2add, flw, fmadd_s>,
    kFused<flw, flw, fmadd_s, fle_s, beq>,
    kFused<flw, flw, fmadd_s, fsw>,
    kFused<flw, flw, fmadd_s>,
    kFused<flw, fmadd_s, fsw>,
    kFused<lbu, andi, xor_, sh2add, lw>,
    kFused<sub, sh2add, sh2add, fsgnj_s>,
    kFused<addi, sh2add, lw, fsgnj_s, bgeu>,
    kFused<fsub_s, sh2add, addi, sw>,
    kFused<lw, sh2add, flw>,
    kFused<slli, add, flw>,
    kFused<slli, add, lw>,
    // ends: pointers and counters advance, a branch goes back
    kFused<fsw, addi, addi, addi, beq>,
    kFused<sh2add, fsw, addi, addi, beq>,
    kFused<srli, xor_, addi, addi, bne>,
    kFused<addi, addi, addi, bne>,
    kFused<addi, addi, addi, beq>,
    kFused<addi, add, addi, bne>,
    kFused<addi, addi, bne>,
    kFused<addi, addi, beq>,
    kFused<addi, addi, blt>,
    kFused<addi, addi, bltu>,
    kFused<add, addi, bne>,
    kFused<addi, add, bne>,
};

bool begins(std::span<const std::optional<Mnemonic>> next, const Fusion& fusion) {
  return fusion.length <= next.size() &&
         std::equal(fusion.shape, fusion.shape + fusion.length, next.begin());
}

}  // namespace

Handler fused(std::span<const std::optional<Mnemonic>> next) {
  for (const Fusion& fusion : kLong) {
    if (begins(next, fusion)) return fusion.handler;
  }
  return next.size() > 1 && next[0] && next[1] ? pair(*next[0], *next[1]) : nullptr;
}

std::span<const Fusion> long_fusions() { return kLong; }

}  // namespace tessera::engine
