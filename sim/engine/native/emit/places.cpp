#include <utility>

#include "sim/base/errors.h"
#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"

/// Places of the words of 64-bit values: the value is in the host register of its lower word. Its
/// upper word may be nowhere else, and is taken out when it is read alone. Only settling changes
/// the host's flags.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;

namespace {
std::uint32_t word_bit(unsigned x) { return 1U << x; }
x86::Mem wide_home(unsigned low) {
  return x86::qword_ptr(x86::rsp, stack::kWide + 8 * static_cast<int>(low));
}
/// One word of a value in stack::kWide.
x86::Mem word_home(unsigned low, int at) {
  return x86::dword_ptr(x86::rsp, stack::kWide + 8 * static_cast<int>(low) + at);
}
}  // namespace

void Emitter::forget_places() {
  mate_.fill(0);
  inside_ = 0;
  apart_ = 0;
}

/// The host register of a 64-bit value.
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

/// Gives x, which may be in another's upper half, a host register of its own.
Emitter::Gp Emitter::own_place(unsigned x) {
  inside_ &= ~word_bit(x);
  if (hosted(x)) return host(x);
  const std::size_t i = take_turn(x);
  if (shared_[i].x != static_cast<int>(x)) vacate(i);
  shared_[i] = {static_cast<int>(x), true, step_};
  return turn_host(i);
}

/// Called before x changes: takes the upper word out of its host register, unless it is `but`.
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

/// A register other than `but` whose host register has x as its upper word; 0: none.
unsigned Emitter::holder(unsigned x, unsigned but) const {
  for (unsigned low = 1; low < mate_.size(); ++low)
    if (mate_[low] == x && low != but) return low;
  return 0;
}

/// Moves x from an upper half to a place of its own. Does not change the host's flags.
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

/// Leaves x alone in its host register, zeros above. Does not change the host's flags.
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

/// Saves a 64-bit value in memory before its host register goes to another turn. False: it has no
/// upper word to save.
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

/// Like get(), but the host register's upper half may hold another word.
Emitter::Gp Emitter::word(unsigned x, const Gp& scratch) {
  if (x == 0 || x >= mate_.size() || mate_[x] == 0 || (inside_ & word_bit(x)) != 0)
    return get(x, scratch);
  return wide_host(x).r32();
}

/// The current place of x.
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

/// The place of x for code that does not know its current one.
asmjit::Operand Emitter::last_place(unsigned x) const {
  return hosted(x) ? asmjit::Operand(host(x)) : home(x);
}

/// Notes words in upper halves or in memory, and registers with another word above.
void Emitter::note_words(Debt& debt) const {
  for (unsigned x = 1; x < mate_.size(); ++x) {
    if ((inside_ & word_bit(x)) != 0 || (apart_ & word_bit(x)) != 0)
      debt.words.push_back({place(x), last_place(x)});
  }
  for (unsigned x = 1; x < mate_.size(); ++x)
    if (mate_[x] != 0 && hosted(x) && (inside_ & word_bit(x)) == 0)
      debt.words.push_back({{host(x), false}, host(x)});
}

/// Moves a word to its final place. Uses rax.
void Emitter::settle(const WordMove& word) {
  if (word.to.isReg() && !word.from.upper) {
    a_.emit(x86::Inst::kIdMov, word.to, word.from.at);
    return;
  }
  fetch(word.from);
  a_.emit(x86::Inst::kIdMov, word.to, x86::eax);
}

/// Computes all pending parts and splits all 64-bit values into words.
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
