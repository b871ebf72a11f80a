#include <algorithm>
#include <utility>

#include "sim/engine/instruction_kind.h"
#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"
#include "sim/isa/float/format.h"

/// The F extension, as in sim/isa/float/fast_x86.h: the host's sticky flags accrue, NaN results
/// become canonical. Where RISC-V and the host may differ, leaves to the interpreter.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;
using x86::CondCode;
using Id = x86::Inst::Id;

namespace {
constexpr std::uint64_t kSign = fp::F32::kSign;
}  // namespace

bool Emitter::emit_float(const isa::Instruction& is, const Step& step) {
  if (has_rounding(is.mnemonic) && !rounds_as_host(is)) return false;
  switch (is.mnemonic) {
    case fadd_s:
      arithmetic(x86::Inst::kIdVaddss, is, step);
      return true;
    case fsub_s:
      arithmetic(x86::Inst::kIdVsubss, is, step);
      return true;
    case fmul_s:
      arithmetic(x86::Inst::kIdVmulss, is, step);
      return true;
    case fdiv_s:
      arithmetic(x86::Inst::kIdVdivss, is, step);
      return true;
    case fsqrt_s:
      square_root(is, step);
      return true;
    case fmadd_s:
    case fmsub_s:
    case fnmsub_s:
    case fnmadd_s:
      fused(is, step);
      return true;
    case fsgnj_s:
    case fsgnjn_s:
    case fsgnjx_s:
      sign(is, step);
      return true;
    case fmin_s:
    case fmax_s:
      least_or_most(is, step);
      return true;
    case feq_s:
    case flt_s:
    case fle_s:
      compare_singles(is, step);
      return true;
    case fcvt_w_s:
    case fcvt_wu_s:
    case fcvt_s_w:
    case fcvt_s_wu:
      convert(is, step);
      return true;
    case fmv_x_w:
      if (is.rd == 0) return true;
      a_.vmovd(into(is.rd), get_low(is.rs1, x86::xmm0));
      return true;
    case fmv_w_x: {
      const Xmm made = into_f(is.rd);
      a_.vmovd(made, get(is.rs1, x86::eax));
      put_single(is.rd, made, {});
      return true;
    }
    case fsgnj_d:
      if (is.rs1 != is.rs2) return false;
      put_f(is.rd, get_f(is.rs1, x86::xmm0));
      return true;
    default:
      return false;
  }
}

/// The result takes the upper half of the first operand.
void Emitter::arithmetic(Id id, const isa::Instruction& is, const Step& step) {
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
  const bool unboxed = is_unboxed(is.rs1);
  const Xmm made = into_f(is.rd);
  a_.emit(id, made, first, second);
  put_single(is.rd, made, {.unboxed = unboxed, .unchecked = true, .computed = true});
}

void Emitter::square_root(const isa::Instruction& is, const Step& step) {
  const Xmm from = get_single(is.rs1, x86::xmm0, step);
  const bool unboxed = is_unboxed(is.rs1);
  const Xmm made = into_f(is.rd);
  a_.vsqrtss(made, from, from);
  put_single(is.rd, made, {.unboxed = unboxed, .unchecked = true, .computed = true});
}

namespace {
/// a = b c + a and a = a b + c, or with other signs.
struct Forms {
  Id adds_to, multiplies;
};
Forms forms_of(isa::Mnemonic mnemonic) {
  switch (mnemonic) {
    case fmadd_s:
      return {x86::Inst::kIdVfmadd231ss, x86::Inst::kIdVfmadd213ss};
    case fmsub_s:
      return {x86::Inst::kIdVfmsub231ss, x86::Inst::kIdVfmsub213ss};
    case fnmsub_s:
      return {x86::Inst::kIdVfnmadd231ss, x86::Inst::kIdVfnmadd213ss};
    default:
      return {x86::Inst::kIdVfnmsub231ss, x86::Inst::kIdVfnmsub213ss};
  }
}
}  // namespace

/// Computes in the result's register if that is also an operand's.
void Emitter::fused(const isa::Instruction& is, const Step& step) {
  Xmm first = get_single(is.rs1, x86::xmm0, step);
  Xmm second = get_single(is.rs2, x86::xmm1, step);
  const Xmm third = get_single(is.rs3, x86::xmm2, step);
  const auto [adds_to, multiplies] = forms_of(is.mnemonic);
  const Xmm made = into_f(is.rd);
  bool unboxed = is_unboxed(is.rs3);
  if (made == second) {
    std::swap(first, second);
    unboxed = is_unboxed(is.rs2);
  } else if (made == first) {
    unboxed = is_unboxed(is.rs1);
  }
  if (made == first) {
    a_.vmovaps(x86::xmm3, first);
    if (second == made) second = x86::xmm3;
    if (third == made)
      a_.emit(adds_to, made, x86::xmm3, second);
    else
      a_.emit(multiplies, made, second, third);
    first = x86::xmm3;
  } else {
    if (made != third) a_.vmovaps(made, third);
    a_.emit(adds_to, made, first, second);
  }
  check_fused(made, first, second);
  put_single(is.rd, made, {.unboxed = unboxed, .computed = true});
}

/// RISC-V raises invalid for infinity times 0 even if a NaN is added to the product.
void Emitter::check_fused(const Xmm& made, const Xmm& first, const Xmm& second) {
  canonical(made, [this, first, second] {
    constexpr int kInvalid = 1;
    const Mem flags = x86::dword_ptr(x86::rsp, stack::kFlags);
    const Mem after = x86::dword_ptr(x86::rsp, stack::kFlags + 4);
    a_.vstmxcsr(flags);
    a_.vmulss(x86::xmm3, first, second);
    a_.vstmxcsr(after);
    a_.mov(x86::eax, after);
    a_.and_(x86::eax, imm(kInvalid));
    a_.or_(flags, x86::eax);
    a_.vldmxcsr(flags);
  });
}

/// The next choice if it tests this comparison, which then makes a mask; else null.
const Choice* Emitter::asked_next(const Step& step) const {
  const auto next = std::find_if(ahead_.begin(), ahead_.end(),
                                 [](const Step& each) { return each.kind == Kind::choose; });
  if (next == ahead_.end()) return nullptr;
  const Choice& choice = loops_.choices[next->choice];
  return choice.compared == step.op ? &choice : nullptr;
}

void Emitter::compare_singles(const isa::Instruction& is, const Step& step) {
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
  const Choice* const choice = masked_ == Masked::no ? asked_next(step) : nullptr;
  if (choice != nullptr) {
    const Gp made = into(is.rd);
    answer();
    a_.vcmpss(kMask, first, second, imm(choice->predicate));
    mask_of_ = step.op;
    asked_ = {is.rd, made, !choice->taken_where_met};
    return;
  }
  if (is.mnemonic == feq_s) {
    a_.vucomiss(first, second);
    a_.setnp(x86::al);
    a_.sete(x86::dl);
    a_.and_(x86::eax, x86::edx);
  } else {
    a_.vcomiss(second, first);
    a_.set(is.mnemonic == flt_s ? CondCode::kA : CondCode::kAE, x86::al);
  }
  if (is.rd == 0) return;
  a_.movzx(into(is.rd), x86::al);
}

void Emitter::sign(const isa::Instruction& is, const Step& step) {
  const bool moves = is.rs1 == is.rs2 && is.mnemonic == fsgnj_s;
  if (!moves) {
    check_nan(is.rs1);
    check_nan(is.rs2);
  }
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
  const Mem sign_bit = constant(kSign);
  const Xmm made = into_f(is.rd);
  SingleState result{.unboxed = is_unboxed(is.rs1)};
  if (moves) {
    result.unchecked = (singles_.unchecked >> is.rs1 & 1) != 0;
    result.computed = (singles_.computed >> is.rs1 & 1) != 0;
    return put_single(is.rd, first, result);
  }
  if (is.rs1 == is.rs2) {
    if (is.mnemonic == fsgnjn_s)
      a_.vxorps(made, first, sign_bit);
    else
      a_.vandps(made, first, constant(~kSign));
    return put_single(is.rd, made, result);
  }
  a_.vandps(x86::xmm2, second, sign_bit);
  if (is.mnemonic == fsgnjn_s) a_.vxorps(x86::xmm2, x86::xmm2, sign_bit);
  if (is.mnemonic == fsgnjx_s) {
    a_.vxorps(made, first, x86::xmm2);
  } else {
    a_.vandps(x86::xmm0, first, constant(~kSign));
    a_.vorps(made, x86::xmm2, x86::xmm0);
  }
  put_single(is.rd, made, result);
}

/// Equal operands differ at most in the signs of zeros: OR gives the smaller one, AND the larger.
void Emitter::least_or_most(const isa::Instruction& is, const Step& step) {
  const bool least = is.mnemonic == fmin_s;
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
  const bool unboxed = is_unboxed(is.rs1) || is_unboxed(is.rs2);
  const Label equal = a_.newLabel();
  const Label done = a_.newLabel();
  a_.vucomiss(first, second);
  a_.jp(leave_before(step));
  a_.je(equal);
  const Xmm made = into_f(is.rd);
  a_.emit(least ? x86::Inst::kIdVminss : x86::Inst::kIdVmaxss, made, first, second);
  a_.bind(done);
  put_single(is.rd, made, {.unboxed = unboxed, .computed = true});
  cold(equal, [this, made, first, second, least, done] {
    a_.emit(least ? x86::Inst::kIdVorps : x86::Inst::kIdVandps, made, first, second);
    a_.jmp(done);
  });
}

/// Leaves to the interpreter if an integer is out of range.
void Emitter::convert(const isa::Instruction& is, const Step& step) {
  constexpr std::uint32_t kOutOfRange = 0x8000'0000;
  constexpr std::uint32_t kTwo32 = 0x4f80'0000;
  switch (is.mnemonic) {
    case fcvt_w_s:
      a_.vcvttss2si(x86::eax, get_single(is.rs1, x86::xmm0, step));
      a_.cmp(x86::eax, imm(static_cast<std::int32_t>(kOutOfRange)));
      a_.je(leave_before(step));
      if (is.rd != 0) put(is.rd, x86::eax);
      return;
    case fcvt_wu_s: {
      const Xmm from = get_single(is.rs1, x86::xmm0, step);
      a_.vmovd(x86::edx, from);
      a_.cmp(x86::edx, imm(kTwo32));
      a_.jae(leave_before(step));
      a_.vcvttss2si(x86::rax, from);
      if (is.rd != 0) put(is.rd, x86::eax);
      return;
    }
    default: {
      Gp value = get(is.rs1, x86::eax);
      if (is.mnemonic == fcvt_s_wu) value = value.r64();
      const Xmm made = into_f(is.rd);
      a_.vxorps(x86::xmm0, x86::xmm0, x86::xmm0);
      a_.vcvtsi2ss(made, x86::xmm0, value);
      put_single(is.rd, made, {.computed = true});
      return;
    }
  }
}

}  // namespace tessera::engine::native
