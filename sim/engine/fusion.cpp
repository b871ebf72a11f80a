#include "sim/engine/fusion.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/engine/step.h"
#include "sim/isa/registers.h"

namespace tessera::engine {
namespace {

using enum isa::Mnemonic;
using isa::Instruction;
using isa::Mnemonic;

// Mnemonics of inner loops. Every pair is made, so each addition costs some 60 small handlers.
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

template <class Mode, std::size_t... I>
constexpr auto make_pairs(std::index_sequence<I...>) {
  return std::array<Handler, sizeof...(I)>{
      sequence<Mode, kHot[I / kSeconds], second(I % kSeconds)>...};
}
template <class Mode>
constexpr auto kPairs = make_pairs<Mode>(std::make_index_sequence<kFirsts * kSeconds>{});

template <class Mode>
Handler pair(Mnemonic first, Mnemonic next) {
  const std::size_t i = kNumber[isa::index(first)];
  const std::size_t j = kNumber[isa::index(next)];
  return i < kFirsts && j < kSeconds ? kPairs<Mode>[i * kSeconds + j] : nullptr;
}

template <Part... kParts>
constexpr Part kListed[] = {kParts...};
template <class Mode, Part... kParts>
constexpr Fusion kFused = {kListed<kParts...>, sequence<Mode, kParts...>,
                           sequence<Mode, kParts.mnemonic...>};

constexpr Part advance = Part(addi).in_place();
constexpr Part move = addi;

// Sequences that compilers make of inner loops, longest first, and how values pass through.
template <class Mode>
constexpr Fusion kLong[] = {
    // bodies: elements of arrays, gathered elements, table look-ups
    kFused<Mode, lw, flw, Part(sh2add, 2), Part(flw, 1), Part(fmadd_s, 3, 1)>,
    kFused<Mode, flw, flw, Part(fmadd_s, 0, 2, 1), Part(fle_s, 0, 1), Part(beq, 1).with_zero()>,
    kFused<Mode, flw, flw, Part(fmadd_s, 0, 2, 1), Part(fsw, 0, 1)>,
    kFused<Mode, flw, flw, Part(fmadd_s, 2, 1)>,
    kFused<Mode, flw, Part(fmadd_s, 0, 1), Part(fsw, 0, 1)>,
    kFused<Mode, lbu, andi, Part(xor_, 1, 2), Part(sh2add, 1), Part(lw, 1)>,
    kFused<Mode, sub, sh2add, sh2add, fsgnj_s>,
    kFused<Mode, addi, Part(sh2add, 1), Part(lw, 1), fsgnj_s, Part(bgeu, 0, 2)>,
    kFused<Mode, fsub_s, sh2add, advance, Part(sw, 2)>,
    kFused<Mode, lw, Part(sh2add, 1), Part(flw, 1)>,
    kFused<Mode, slli, Part(add, 0, 1), Part(flw, 1)>,
    kFused<Mode, slli, Part(add, 0, 1), Part(lw, 1)>,
    // ends: pointers and counters advance, a branch goes back
    kFused<Mode, fsw, advance, advance, advance, Part(beq, 0, 3)>,
    kFused<Mode, sh2add, Part(fsw, 1), move, move, beq>,
    kFused<Mode, Part(srli).in_place(), Part(xor_, 0, 1), advance, advance,
           Part(bne, 2).with_zero()>,
    kFused<Mode, advance, advance, advance, Part(bne, 3).with_zero()>,
    kFused<Mode, advance, advance, advance, Part(beq, 3).with_zero()>,
    kFused<Mode, advance, Part(add).in_place(), advance, Part(bne, 3).with_zero()>,
    kFused<Mode, advance, advance, Part(bne, 2).with_zero()>,
    kFused<Mode, advance, advance, Part(beq, 2).with_zero()>,
    kFused<Mode, advance, advance, Part(blt, 1)>,
    kFused<Mode, advance, advance, Part(bltu, 1)>,
    kFused<Mode, Part(add).in_place(), advance, Part(bne, 1).with_zero()>,
    kFused<Mode, advance, Part(add).in_place(), Part(bne, 2).with_zero()>,
};

using Next = std::span<const std::optional<Instruction>>;

bool begins(Next next, std::span<const Part> parts) {
  return parts.size() <= next.size() &&
         std::equal(parts.begin(), parts.end(), next.begin(), [](const Part& part, const auto& is) {
           return is && is->mnemonic == part.mnemonic;
         });
}

/// True if the operand in `field` of next[at] is the result of next[at - distance].
bool passes(Next next, std::size_t at, isa::Field field, std::uint8_t distance) {
  if (distance == 0) return true;
  const auto& operands = isa::info(next[at]->mnemonic).operands;
  const auto operand = std::ranges::find(operands, field, &isa::Operand::field);
  if (operand == operands.end()) return false;
  const bool floating = operand->shape == isa::Shape::f_register;
  const std::uint32_t number = isa::register_number(field, *next[at]);
  const auto written = [&](std::size_t i) {
    const isa::RegisterSets sets = isa::registers(*next[i]);
    return ((floating ? sets.writes_f : sets.writes_x) >> number & 1U) != 0;
  };
  for (std::size_t i = at - distance + 1; i < at; ++i) {
    if (written(i)) return false;
  }
  return written(at - distance) && next[at - distance]->rd == number;
}

/// True if the instructions' registers match the parts.
bool holds(Next next, std::span<const Part> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const Instruction& instruction = *next[i];
    if (part.rd_is_rs1 && (instruction.rd != instruction.rs1 || instruction.rd == 0)) return false;
    if (part.rs2_is_x0 && instruction.rs2 != 0) return false;
    if (!passes(next, i, isa::Field::rs1, part.rs1) ||
        !passes(next, i, isa::Field::rs2, part.rs2) || !passes(next, i, isa::Field::rs3, part.rs3))
      return false;
  }
  return true;
}

}  // namespace

template <class Mode>
Handler fused(Next next) {
  if (next.empty()) return nullptr;
  for (const Fusion& fusion : kLong<Mode>) {
    if (begins(next, fusion.parts))
      return holds(next, fusion.parts) ? fusion.handler : fusion.plain;
  }
  return next.size() > 1 && next[0] && next[1] ? pair<Mode>(next[0]->mnemonic, next[1]->mnemonic)
                                               : nullptr;
}

Handler fused_straight(Next next) {
  const auto end = std::ranges::find_if(next, [](const auto& each) {
    return !each || isa::info(each->mnemonic).issue == isa::IssueClass::branch;
  });
  return fused<Fast>(next.first(static_cast<std::size_t>(end - next.begin())));
}

std::span<const Fusion> long_fusions() { return kLong<Fast>; }

template Handler fused<Fast>(Next);
template Handler fused<Counting>(Next);

}  // namespace tessera::engine
