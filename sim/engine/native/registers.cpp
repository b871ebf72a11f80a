#include <algorithm>

#include "sim/engine/native/emitter.h"
#include "sim/engine/native/layout.h"

namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;

void Emitter::begin_node() {
  shared_.assign(allocation_.crowded ? std::size(kPool) - allocation_.hosts : 0, {});
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

/// How many steps are done before the one that needs x next.
std::size_t Emitter::next_use(int x) const {
  if (x < 0) return ahead_.size();
  if (x >= kFirstShadow) return 0;
  const auto uses = [bit = 1U << static_cast<unsigned>(x)](const Step& step) {
    return ((step.sets.reads_x | step.sets.writes_x) & bit) != 0;
  };
  const auto found = std::find_if(ahead_.begin(), ahead_.end(), uses);
  return static_cast<std::size_t>(found - ahead_.begin());
}

/// The number of the register that x has now: the one that it had, or the one whose x is needed
/// last; the step at hand keeps its own.
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
  if (x == 0) {
    a_.xor_(scratch, scratch);
    return scratch;
  }
  if (hosted(x)) return host(x);
  const std::size_t i = take_turn(x);
  Turn& turn = shared_[i];
  if (turn.x != static_cast<int>(x)) {
    if (turn.unsaved) a_.mov(home(static_cast<unsigned>(turn.x)), turn_host(i));
    turn = {static_cast<int>(x), false, step_};
    a_.mov(turn_host(i), home(x));
  }
  return turn_host(i);
}

Emitter::Gp Emitter::into(unsigned rd) {
  if (hosted(rd)) return host(rd);
  const std::size_t i = take_turn(rd);
  Turn& turn = shared_[i];
  if (turn.x != static_cast<int>(rd) && turn.unsaved)
    a_.mov(home(static_cast<unsigned>(turn.x)), turn_host(i));
  turn = {static_cast<int>(rd), true, step_};
  return turn_host(i);
}

void Emitter::put(unsigned rd, const Gp& value) {
  const Gp made = into(rd);
  if (made != value) a_.mov(made, value);
}

std::vector<Emitter::Unsaved> Emitter::unsaved() const {
  std::vector<Unsaved> made;
  for (std::size_t i = 0; i < shared_.size(); ++i)
    if (shared_[i].unsaved && shared_[i].x < kFirstShadow)
      made.push_back({static_cast<unsigned>(shared_[i].x), turn_host(i)});
  return made;
}

void Emitter::save(const std::vector<Unsaved>& all) {
  for (const Unsaved& each : all) a_.mov(home(each.x), each.host);
}

Emitter::Xmm Emitter::host_f(unsigned f) const {
  return x86::xmm(kFirstHostF + static_cast<unsigned>(allocation_.f[f]));
}

Emitter::Mem Emitter::home_f(unsigned f) const {
  return x86::qword_ptr(x86::rbx, context_at::f(f));
}

Emitter::Xmm Emitter::get_f(unsigned f, const Xmm& scratch) {
  if (hosted_f(f)) return host_f(f);
  a_.vmovq(scratch, home_f(f));
  return scratch;
}

/// The interpreter goes on where the register holds no boxed value.
Emitter::Xmm Emitter::get_single(unsigned f, const Xmm& scratch, const Step& step) {
  const Xmm value = get_f(f, scratch);
  if ((boxed_ >> f & 1) == 0) {
    if (hosted_f(f)) {
      a_.vpextrd(x86::edx, value, imm(1));
      a_.cmp(x86::edx, imm(-1));
    } else {
      a_.cmp(x86::dword_ptr(x86::rbx, context_at::f(f) + 4), imm(-1));
    }
    a_.jne(leave_before(step));
    boxed_ |= std::uint64_t{1} << f;
  }
  if (masked_ == Masked::no) return value;
  if (masked_ == Masked::where_taken)
    a_.vandnps(scratch, kMask, value);
  else
    a_.vandps(scratch, kMask, value);
  return scratch;
}

Emitter::Xmm Emitter::into_f(unsigned fd) const {
  return hosted_f(fd) ? host_f(fd) : Xmm(x86::xmm2);
}

void Emitter::put_f(unsigned fd, const Xmm& value) {
  if (!hosted_f(fd))
    a_.vmovq(home_f(fd), value);
  else if (host_f(fd) != value)
    a_.vmovaps(host_f(fd), value);
}

}  // namespace tessera::engine::native
