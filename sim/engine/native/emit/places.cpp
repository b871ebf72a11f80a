#include <utility>

#include "sim/base/errors.h"
#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"

/// Where words stand whose values belong together: a value of 64 bits is in the host register of
/// its lower word. Its upper word may be nowhere else, and is taken out where somebody reads it
/// alone. Nothing here changes the host's flags but settling.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;

namespace {
std::uint32_t word_bit(unsigned x) { return 1U << x; }
x86::Mem wide_home(unsigned low) {
  return x86::qword_ptr(x86::rsp, stack::kWide + 8 * static_cast<int>(low));
}
/// One word of a value that stands there.
x86::Mem word_home(unsigned low, int at) {
  return x86::dword_ptr(x86::rsp, stack::kWide + 8 * static_cast<int>(low) + at);
}
}  // namespace

void Emitter::forget_places() {
  mate_.fill(0);
  inside_ = 0;
  apart_ = 0;
}

/// The host register of a value that is wide.
Emitter::Gp Emitter::wide_host(unsigned low) {
  if (hosted(low)) return host(low).r64();
  const std::size_t i = take_turn(low);
  if (shared_[i].x != static_cast<int>(low)) {
    vacate(i);
    shared_[i] = {static_cast<int>(low), true, step_};
    a_.mov(turn_host(i).r64(), wide_home(low));
    apart_ &= ~word_bit(low);
  }
  return turn_host(i).r64();
}

/// The host register in which x, which may be inside another, has a place of its own from now on.
Emitter::Gp Emitter::own_place(unsigned x) {
  inside_ &= ~word_bit(x);
  if (hosted(x)) return host(x);
  const std::size_t i = take_turn(x);
  if (shared_[i].x != static_cast<int>(x)) vacate(i);
  shared_[i] = {static_cast<int>(x), true, step_};
  return turn_host(i);
}

/// The value of x is about to change: takes out what is inside of it, but for `but`.
void Emitter::overwrite(unsigned x, unsigned but) {
  if (x >= mate_.size()) return;
  const unsigned mate = mate_[x];
  const bool last = mate != 0 && mate != but && mate != kNobody &&
                    (inside_ & word_bit(mate)) != 0 && holder(mate, x) == 0;
  if (last && !is_forgotten(mate)) take_out(mate);
  if (last) inside_ &= ~word_bit(mate);
  if (mate != but) mate_[x] = 0;
  apart_ &= ~word_bit(x);
  for (std::uint8_t& each : mate_)
    if (each == x && x != 0) each = kNobody;
  inside_ &= ~word_bit(x);
}

/// A register in whose host register x stands as the upper word, but for `but`; 0: none.
unsigned Emitter::holder(unsigned x, unsigned but) const {
  for (unsigned low = 1; low < mate_.size(); ++low)
    if (mate_[low] == x && low != but) return low;
  return 0;
}

/// Leaves the host's flags alone.
void Emitter::take_out(unsigned x) {
  const unsigned low = holder(x, 0);
  if ((apart_ & word_bit(low)) != 0) {
    a_.mov(own_place(x), word_home(low, 4));
    return;
  }
  const Gp from = wide_host(low);
  const Gp made = own_place(x);
  a_.rorx(made.r64(), from, imm(kWordBits));
  a_.mov(made, made);
}

/// x alone in its host register, zeros above. Leaves the host's flags alone.
void Emitter::narrow(unsigned x) {
  if (x >= mate_.size()) return;
  if ((inside_ & word_bit(x)) != 0) take_out(x);
  const unsigned mate = mate_[x];
  if (mate == 0) return;
  if (mate != kNobody && (inside_ & word_bit(mate)) != 0 && holder(mate, x) == 0) take_out(mate);
  mate_[x] = 0;
  if ((apart_ & word_bit(x)) != 0) {
    apart_ &= ~word_bit(x);
    a_.mov(own_place(x), word_home(x, 0));
    return;
  }
  const Gp made = wide_host(x).r32();
  a_.mov(made, made);
}

/// Keeps the word in a host register before another takes its turn there. False: nothing to keep.
bool Emitter::keep_apart(std::size_t i) {
  const auto x = static_cast<unsigned>(shared_[i].x);
  if (x >= mate_.size() || mate_[x] == 0) return false;
  const unsigned mate = std::exchange(mate_[x], std::uint8_t{0});
  if (mate == kNobody || (inside_ & word_bit(mate)) == 0 || holder(mate, x) != 0) return false;
  mate_[x] = static_cast<std::uint8_t>(mate);
  a_.mov(wide_home(x), turn_host(i).r64());
  apart_ |= word_bit(x);
  return true;
}

/// As get(); what stands above is not to be used.
Emitter::Gp Emitter::word(unsigned x, const Gp& scratch) {
  if (x == 0 || x >= mate_.size() || mate_[x] == 0 || (inside_ & word_bit(x)) != 0)
    return get(x, scratch);
  return wide_host(x).r32();
}

/// Where x stands now.
Emitter::Word Emitter::place(unsigned x) const {
  if (x == 0) return {imm(0), false};
  if (x >= mate_.size()) throw Defect("no x register");
  if ((inside_ & word_bit(x)) != 0) {
    const unsigned low = holder(x, 0);
    if ((apart_ & word_bit(low)) != 0) return {word_home(low, 4), false};
    return {place(low).at, true};
  }
  if ((apart_ & word_bit(x)) != 0) return {word_home(x, 0), false};
  if (hosted(x)) return {host(x), false};
  for (std::size_t i = 0; i < shared_.size(); ++i)
    if (shared_[i].x == static_cast<int>(x)) return {turn_host(i), false};
  return {home(x), false};
}

/// Where x stands for those who know nothing of its place.
asmjit::Operand Emitter::last_place(unsigned x) const {
  return hosted(x) ? asmjit::Operand(host(x)) : home(x);
}

/// Words that stand inside of others, and those.
void Emitter::note_words(Debt& debt) const {
  for (unsigned x = 1; x < mate_.size(); ++x) {
    if ((inside_ & word_bit(x)) != 0 || (apart_ & word_bit(x)) != 0)
      debt.words.push_back({place(x), last_place(x)});
  }
  for (unsigned x = 1; x < mate_.size(); ++x)
    if (mate_[x] != 0 && hosted(x) && (inside_ & word_bit(x)) == 0)
      debt.words.push_back({{host(x), false}, host(x)});
}

/// Uses rax.
void Emitter::settle(const Settled& word) {
  if (word.to.isReg() && !word.from.upper) {
    a_.emit(x86::Inst::kIdMov, word.to, word.from.at);
    return;
  }
  fetch(word.from);
  a_.emit(x86::Inst::kIdMov, word.to, x86::eax);
}

/// Nothing is wide any more, and nothing waits.
void Emitter::settle_wide() {
  const std::vector<Late> late = late_parts();
  for (const Late& each : late) evaluate(each);
  for (unsigned x = 1; x < mate_.size(); ++x) {
    ++step_;
    narrow(x);
  }
  for (const Late& each : late)
    if (!each.to.isNone()) {
      ++step_;
      const Gp made = into(part_at(static_cast<std::size_t>(each.part)).rd);
      a_.mov(made, each.made);
    }
}

}  // namespace tessera::engine::native
