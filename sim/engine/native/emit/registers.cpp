#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"

namespace tessera::engine::native {

namespace x86 = asmjit::x86;

void Emitter::begin_node() {
  // The last registers of the pool may be tallies.
  const auto tallies = static_cast<std::size_t>(std::count_if(
      tallies_.begin(), tallies_.end(), [](const Tally& each) { return each.host.isGp(); }));
  shared_.assign(allocation_.crowded ? std::size(kPool) - allocation_.hosts - tallies : 0, {});
  lag_.fill(0);
  asked_ = {};
  waiting_.clear();
}

Emitter::Gp Emitter::host(unsigned x) const {
  return kPool[static_cast<std::uint8_t>(allocation_.x[x])];
}

Emitter::Gp Emitter::turn_host(std::size_t i) const { return kPool[allocation_.hosts + i]; }

Emitter::Mem Emitter::home(unsigned x) const {
  if (x >= kFirstShadow)
    return x86::dword_ptr(x86::rsp, stack::kShadows + 4 * static_cast<int>(x - kFirstShadow));
  if (x == kLoopCounter) return x86::dword_ptr(x86::rsp, stack::kLoopsLeft);
  return x86::dword_ptr(x86::rbx, context_at::x(x));
}

/// Number of steps before the next one that uses x.
std::size_t Emitter::next_use(int x) const {
  if (x < 0) return ahead_.size();
  if (x >= kFirstShadow) return 0;
  const auto uses = [bit = 1U << static_cast<unsigned>(x)](const Step& step) {
    return ((step.sets.reads_x | step.sets.writes_x) & bit) != 0;
  };
  const auto found = std::find_if(ahead_.begin(), ahead_.end(), uses);
  return static_cast<std::size_t>(found - ahead_.begin());
}

/// The number of the shared register for x: the one that holds x, or else the one whose x is used
/// furthest ahead; registers used by the current step stay.
std::size_t Emitter::take_turn(unsigned x) {
  auto turn = std::find_if(shared_.begin(), shared_.end(),
                           [&](const Turn& each) { return each.x == static_cast<int>(x); });
  if (turn == shared_.end()) {
    const auto distance = [&](const Turn& each) {
      return each.x >= 0 && each.used == step_ ? std::size_t{0} : 1 + next_use(each.x);
    };
    turn = std::max_element(shared_.begin(), shared_.end(), [&](const Turn& a, const Turn& b) {
      return distance(a) < distance(b);
    });
  }
  turn->used = step_;
  return static_cast<std::size_t>(turn - shared_.begin());
}

Emitter::Gp Emitter::get(unsigned x, const Gp& scratch) {
  const Gp made = get_behind(x, scratch);
  if (lag_[x] != 0) add_to(made, std::exchange(lag_[x], 0));
  return made;
}

/// Does not change the host's flags.
void Emitter::add_to(const Gp& host, std::int32_t by) { a_.lea(host, x86::ptr(host.r64(), by)); }

void Emitter::move_by(unsigned x, std::int32_t by) {
  constexpr std::int32_t kMost = 1 << 16;
  get_behind(x, x86::eax);
  overwrite(x, 0);
  if (!hosted(x)) shared_[take_turn(x)].unsaved = true;
  lag_[x] += by;
  if (std::abs(lag_[x]) > kMost) get(x, x86::eax);
}

Emitter::Gp Emitter::get_behind(unsigned x, const Gp& scratch) {
  narrow(x);
  if (static_cast<int>(x) == asked_.x) answer();
  if (x == 0) {
    a_.xor_(scratch, scratch);
    return scratch;
  }
  if (hosted(x)) return host(x);
  const std::size_t i = take_turn(x);
  Turn& turn = shared_[i];
  if (turn.x != static_cast<int>(x)) {
    vacate(i);
    turn = {static_cast<int>(x), false, step_};
    a_.mov(turn_host(i), home(x));
  }
  return turn_host(i);
}

/// Ends an x register's turn in a shared register: writes its value home if it is unsaved.
void Emitter::vacate(std::size_t i) {
  const Turn& turn = shared_[i];
  if (turn.x < 0 || keep_apart(i)) return;
  if (turn.x == asked_.x) answer();
  const auto x = static_cast<unsigned>(turn.x);
  if (lag_[x] != 0) add_to(turn_host(i), std::exchange(lag_[x], 0));
  if (turn.unsaved) a_.mov(home(x), turn_host(i));
}

/// Writes the comparison result of kMask to its x register. Changes neither the host's flags nor
/// xmm0 to xmm2, which may hold operands.
void Emitter::answer(const PendingComparison& asked) {
  if (asked.x < 0) return;
  if (asked.inverted) {
    a_.vmovd(asked.host, kMask);
    add_to(asked.host, 1);
  } else {
    a_.vpabsd(x86::xmm3, kMask);
    a_.vmovd(asked.host, x86::xmm3);
  }
}

Emitter::Gp Emitter::into(unsigned rd) {
  overwrite(rd, 0);
  if (static_cast<int>(rd) == asked_.x) asked_ = {};
  if (hosted(rd)) {
    lag_[rd] = 0;
    return host(rd);
  }
  const std::size_t i = take_turn(rd);
  Turn& turn = shared_[i];
  if (turn.x != static_cast<int>(rd)) vacate(i);
  lag_[rd] = 0;
  turn = {static_cast<int>(rd), true, step_};
  return turn_host(i);
}

void Emitter::put(unsigned rd, const Gp& value) {
  const Gp made = into(rd);
  if (made != value) a_.mov(made, value);
}

Emitter::Debt Emitter::debt(int next) const {
  Debt made{.asked = asked_, .late = late()};
  note_words(made);
  for (unsigned x = 1; x < kLoopCounter; ++x)
    if (lag_[x] != 0 && hosted(x)) made.lags.push_back({host(x), lag_[x]});
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const Turn& turn = shared_[i];
    if (!turn.unsaved || turn.x >= kFirstShadow) continue;
    const auto x = static_cast<unsigned>(turn.x);
    if (lag_[x] != 0) made.lags.push_back({turn_host(i), lag_[x]});
    made.unsaved.push_back({x, turn_host(i)});
  }
  made.unchecked = static_cast<std::uint32_t>(singles_.unchecked);
  made.unboxed = static_cast<std::uint32_t>(singles_.unboxed);
  if (next == kOutside) return made;
  made.kept = made.unboxed & allocation_.unboxed[static_cast<std::size_t>(next)];
  made.unboxed &= ~made.kept;
  return made;
}

/// Emits the work of `debt`; the emitter's state stays, as other code goes on from it.
void Emitter::settle(const Debt& debt) {
  for (const Late& each : debt.late) evaluate(each);
  answer(debt.asked);
  for (const Lag& each : debt.lags) add_to(each.host, each.by);
  for (const Unsaved& each : debt.unsaved) a_.mov(home(each.x), each.host);
  for (const WordMove& each : debt.words) settle(each);
  for (const Late& each : debt.late)
    if (!each.to.isNone()) settle({{each.made, false}, each.to});
  for (unsigned f = 0; f < 32; ++f) {
    if ((debt.unchecked >> f & 1) != 0) canonical(host_f(f));
    if ((debt.unboxed >> f & 1) != 0) box(host_f(f));
  }
}

void Emitter::settle_all() {
  settle(debt());
  asked_ = {};
  waiting_.clear();
  forget_places();
  lag_.fill(0);
  singles_.unboxed = 0;
  singles_.unchecked = 0;
}

}  // namespace tessera::engine::native
