#include "sim/engine/native/wide/values.h"

#include <algorithm>
#include <bit>

#include "sim/engine/instruction_kind.h"

namespace tessera::engine::native {

using enum isa::Mnemonic;
using isa::Instruction;
using isa::Mnemonic;

namespace {
constexpr std::size_t kWords = 32;  ///< x registers
}  // namespace

bool is_arithmetic(const Step& step) {
  return step.kind == Kind::straight && is_integer_arithmetic(step.instruction.mnemonic);
}

Values::Values(std::span<const Step> given) : steps(given), reads(given.size()) {
  all.push_back({.end = given.size()});
  std::array<int, kWords> now{};
  for (std::uint8_t x = 1; x < kWords; ++x) {
    now[x] = static_cast<int>(all.size());
    all.push_back({.x = x, .end = given.size()});
  }
  made.assign(given.size(), -1);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Step& step = given[i];
    for (std::uint32_t left = step.sets.reads_x; left != 0; left &= left - 1)
      all[static_cast<std::size_t>(now[static_cast<std::size_t>(std::countr_zero(left))])]
          .uses.push_back(i);
    reads[i] = {now[step.instruction.rs1], now[step.instruction.rs2]};
    for (std::uint32_t left = step.sets.writes_x; left != 0; left &= left - 1) {
      const auto x = static_cast<std::uint8_t>(std::countr_zero(left));
      all[static_cast<std::size_t>(now[x])].end = i;
      now[x] = static_cast<int>(all.size());
      if (x == step.instruction.rd) made[i] = now[x];
      all.push_back({.step = static_cast<int>(i), .x = x, .end = given.size()});
    }
  }
}

const Instruction* Values::maker(int value) const {
  const int at = (*this)[value].step;
  if (at < 0) return nullptr;
  const Step& step = steps[static_cast<std::size_t>(at)];
  const bool loads = step.kind == Kind::straight && step.instruction.mnemonic == lw;
  return is_arithmetic(step) || loads ? &step.instruction : nullptr;
}

bool Values::is_made(int value, Mnemonic by) const {
  const Instruction* const found = maker(value);
  return found != nullptr && found->mnemonic == by;
}

void Pairs::add(const Words& words) {
  if (words.low == 0 || has_low(words.low)) return;
  high_of_[words.low] = words.high;
  if (words.high != 0) low_of_.try_emplace(words.high, words.low);
}

void Pairs::forget() {
  for (const auto& [low, high] : high_of_)
    if (high != 0) registers_.insert({values_[low].x, values_[high].x});
  high_of_.clear();
  low_of_.clear();
}

bool Pairs::are(const Words& words) const {
  const auto found = high_of_.find(words.low);
  return found != high_of_.end() && found->second == words.high;
}

int Pairs::likeness(const Words& words) const {
  constexpr int kKnown = 8;
  constexpr int kLoaded = 6;
  constexpr int kPaired = 3;
  const auto& [low, high] = words;
  if (low == 0) return -kKnown;
  if (has_low(low)) return are(words) ? kKnown : -kKnown / 2;
  if (high == 0) return 0;
  const Instruction* const a = values_.maker(low);
  const Instruction* const b = values_.maker(high);
  if (a != nullptr && b != nullptr && a->mnemonic == lw && b->mnemonic == lw)
    return values_.distance(values_.step_of(low), values_.step_of(high)) == kWordBytes ? kLoaded
                                                                                       : -kLoaded;
  if (registers_.contains({values_[low].x, values_[high].x})) return kPaired;
  const bool alike = a == nullptr || b == nullptr ? a == b : a->mnemonic == b->mnemonic;
  return alike ? 1 : 0;
}

bool Pairs::are_swapped(const std::array<int, 2>& lows, const std::array<int, 2>& highs) const {
  return likeness({lows[0], highs[1]}) + likeness({lows[1], highs[0]}) >
         likeness({lows[0], highs[0]}) + likeness({lows[1], highs[1]});
}

}  // namespace tessera::engine::native
