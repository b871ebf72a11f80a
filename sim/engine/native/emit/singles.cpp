#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"
#include "sim/isa/float/format.h"

/// f registers. A binary32 value in a host register has a valid lower half; its box, the ones
/// above, is set when all of it is read, and a NaN made by arithmetic becomes canonical when the
/// difference could be seen: results that only arithmetic and comparisons read are never checked.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;

namespace {
constexpr std::uint64_t bit(unsigned f) { return std::uint64_t{1} << f; }
void set(std::uint64_t& bits, unsigned f, bool value) {
  bits = value ? bits | bit(f) : bits & ~bit(f);
}
}  // namespace

Emitter::Xmm Emitter::host_f(unsigned f) const {
  return x86::xmm(kFirstHostF + static_cast<unsigned>(allocation_.f[f]));
}

Emitter::Mem Emitter::home_f(unsigned f) const {
  return x86::qword_ptr(x86::rbx, context_at::f(f));
}

/// Starts from what code that enters the node has checked.
void Emitter::start_singles(std::size_t node) {
  singles_ = {.known = allocation_.singles[node], .unboxed = allocation_.unboxed[node]};
}

bool Emitter::is_unboxed(unsigned f) const {
  return masked_ != Masked::no || (singles_.unboxed & bit(f)) != 0;
}

void Emitter::box(const Xmm& value) { a_.vorps(value, value, constant(fp::box<fp::F32>(0))); }

/// Makes a NaN, which is quiet, canonical, after the code of `before`; the comparison sets no
/// flags.
void Emitter::canonical(const Xmm& result, const std::function<void()>& before) {
  const Label nan = a_.newLabel();
  const Label done = a_.newLabel();
  a_.vucomiss(result, result);
  a_.jp(nan);
  a_.bind(done);
  Mem number = constant(fp::box<fp::F32>(fp::F32::kNan));
  number.setSize(8);
  cold(nan, [this, result, before, done, number] {
    if (before) before();
    a_.vmovq(result, number);
    a_.jmp(done);
  });
}

void Emitter::check_nan(unsigned f) {
  if ((singles_.unchecked & bit(f)) == 0) return;
  canonical(host_f(f));
  set(singles_.unchecked, f, false);
}

Emitter::Xmm Emitter::get_as_is(unsigned f, const Xmm& scratch) {
  if (hosted_f(f)) return host_f(f);
  a_.vmovq(scratch, home_f(f));
  return scratch;
}

Emitter::Xmm Emitter::get_low(unsigned f, const Xmm& scratch) {
  check_nan(f);
  return get_as_is(f, scratch);
}

Emitter::Xmm Emitter::get_f(unsigned f, const Xmm& scratch) {
  const Xmm value = get_low(f, scratch);
  if ((singles_.unboxed & bit(f)) != 0) box(value);
  set(singles_.unboxed, f, false);
  return value;
}

Emitter::Xmm Emitter::get_single(unsigned f, const Xmm& scratch, const Step& step) {
  const Xmm value = get_as_is(f, scratch);
  if ((singles_.known & bit(f)) == 0) {
    if (hosted_f(f)) {
      a_.vpextrd(x86::edx, value, imm(1));
      a_.cmp(x86::edx, imm(-1));
    } else {
      a_.cmp(x86::dword_ptr(x86::rbx, context_at::f(f) + 4), imm(-1));
    }
    a_.jne(leave_before(step));
    set(singles_.known, f, true);
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

void Emitter::put_f(unsigned fd, const Xmm& value) { put_single(fd, value, {.unboxed = false}); }

void Emitter::put_single(unsigned fd, const Xmm& value, const SingleState& made) {
  const bool hosted = hosted_f(fd);
  if (!hosted) {
    if (made.unchecked) canonical(value);
    if (made.unboxed) box(value);
    a_.vmovq(home_f(fd), value);
  } else if (host_f(fd) != value) {
    a_.vmovaps(host_f(fd), value);
  }
  set(singles_.unboxed, fd, hosted && made.unboxed);
  set(singles_.unchecked, fd, hosted && made.unchecked);
  set(singles_.computed, fd, made.computed);
}

}  // namespace tessera::engine::native
