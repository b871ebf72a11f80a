#include "sim/engine/fusion.h"

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
      step2<Fast, kHot[I / kSeconds], second(I % kSeconds)>...};
}
constexpr auto kPairs = make_pairs(std::make_index_sequence<kFirsts * kSeconds>{});

}  // namespace

Handler fused_pair(Mnemonic first, Mnemonic next) {
  const std::size_t i = kNumber[isa::index(first)];
  const std::size_t j = kNumber[isa::index(next)];
  return i < kFirsts && j < kSeconds ? kPairs[i * kSeconds + j] : nullptr;
}

Handler fused_triple(Mnemonic, Mnemonic, Mnemonic) { return nullptr; }

}  // namespace tessera::engine
