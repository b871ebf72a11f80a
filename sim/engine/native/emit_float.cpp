#include "sim/engine/instruction_kind.h"
#include "sim/engine/native/emitter.h"
#include "sim/engine/native/layout.h"
#include "sim/isa/float/format.h"

/// F, as sim/isa/float/fast_x86.h does it: the host's sticky flags accrue, results that are no
/// number become canonical. Where RISC-V and the host may differ the interpreter goes on.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;
using x86::CondCode;
using Id = x86::Inst::Id;

namespace {
constexpr std::uint64_t kBox = fp::box<fp::F32>(0);
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
      fused(x86::Inst::kIdVfmadd231ss, is, step);
      return true;
    case fmsub_s:
      fused(x86::Inst::kIdVfmsub231ss, is, step);
      return true;
    case fnmsub_s:
      fused(x86::Inst::kIdVfnmadd231ss, is, step);
      return true;
    case fnmadd_s:
      fused(x86::Inst::kIdVfnmsub231ss, is, step);
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
      a_.vmovd(into(is.rd), get_f(is.rs1, x86::xmm0));
      return true;
    case fmv_w_x: {
      const Gp value = get(is.rs1, x86::eax);
      a_.vmovd(x86::xmm2, value);
      a_.vorps(x86::xmm2, x86::xmm2, constant(kBox));
      put_f(is.rd, x86::xmm2);
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

/// A NaN, quiet by now, becomes canonical; the comparison flags nothing.
void Emitter::canonical(const Xmm& result) {
  const Label nan = a_.newLabel();
  const Label done = a_.newLabel();
  a_.vucomiss(result, result);
  a_.jp(nan);
  a_.bind(done);
  Mem number = constant(fp::box<fp::F32>(fp::F32::kNan));
  number.setSize(8);
  cold(nan, [this, result, done, number] {
    a_.vmovq(result, number);
    a_.jmp(done);
  });
}

/// The box of the first operand becomes the result's.
void Emitter::arithmetic(Id id, const isa::Instruction& is, const Step& step) {
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
  const Xmm made = into_f(is.rd);
  a_.emit(id, made, first, second);
  canonical(made);
  put_f(is.rd, made);
}

void Emitter::square_root(const isa::Instruction& is, const Step& step) {
  const Xmm from = get_single(is.rs1, x86::xmm0, step);
  const Xmm made = into_f(is.rd);
  a_.vsqrtss(made, from, from);
  canonical(made);
  put_f(is.rd, made);
}

/// The third operand, which a result that is no number needs again, survives as such or in xmm2.
void Emitter::fused(Id id, const isa::Instruction& is, const Step& step) {
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
  const Xmm third = get_single(is.rs3, x86::xmm2, step);
  const bool in_place = hosted_f(is.rd) && is.rd != is.rs1 && is.rd != is.rs2;
  const Xmm made = in_place ? host_f(is.rd) : Xmm(x86::xmm2);
  Label nan = leave_before(step);
  if (in_place && third == made) {
    a_.vmovaps(x86::xmm2, third);
    const Label on = nan;
    nan = a_.newLabel();
    cold(nan, [this, made, on] {
      a_.vmovaps(made, x86::xmm2);
      a_.jmp(on);
    });
  } else if (third != made) {
    a_.vmovaps(made, third);
  }
  a_.emit(id, made, first, second);
  a_.vucomiss(made, made);
  a_.jp(nan);
  put_f(is.rd, made);
}

void Emitter::compare_singles(const isa::Instruction& is, const Step& step) {
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
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
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
  const Mem sign_bit = constant(kSign);
  if (is.rs1 == is.rs2) {
    if (is.mnemonic == fsgnj_s) return put_f(is.rd, first);
    const Xmm made = into_f(is.rd);
    if (is.mnemonic == fsgnjn_s)
      a_.vxorps(made, first, sign_bit);
    else
      a_.vandps(made, first, constant(~kSign));
    return put_f(is.rd, made);
  }
  a_.vandps(x86::xmm2, second, sign_bit);
  if (is.mnemonic == fsgnjn_s) a_.vxorps(x86::xmm2, x86::xmm2, sign_bit);
  if (is.mnemonic == fsgnjx_s) {
    a_.vxorps(x86::xmm2, first, x86::xmm2);
  } else {
    a_.vandps(x86::xmm0, first, constant(~kSign));
    a_.vorps(x86::xmm2, x86::xmm2, x86::xmm0);
  }
  put_f(is.rd, x86::xmm2);
}

/// Equal operands differ at most in the signs of zeros: the smaller has all sign bits of both.
void Emitter::least_or_most(const isa::Instruction& is, const Step& step) {
  const bool least = is.mnemonic == fmin_s;
  const Xmm first = get_single(is.rs1, x86::xmm0, step);
  const Xmm second = get_single(is.rs2, x86::xmm1, step);
  const Label equal = a_.newLabel();
  const Label done = a_.newLabel();
  a_.vucomiss(first, second);
  a_.jp(leave_before(step));
  a_.je(equal);
  a_.emit(least ? x86::Inst::kIdVminss : x86::Inst::kIdVmaxss, x86::xmm2, first, second);
  a_.bind(done);
  put_f(is.rd, x86::xmm2);
  cold(equal, [this, first, second, least, done] {
    a_.emit(least ? x86::Inst::kIdVorps : x86::Inst::kIdVandps, x86::xmm2, first, second);
    a_.jmp(done);
  });
}

/// Integers out of range are the interpreter's.
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
      a_.vmovaps(x86::xmm0, constant(kBox));
      if (is.mnemonic == fcvt_s_wu) value = value.r64();
      a_.vcvtsi2ss(x86::xmm2, x86::xmm0, value);
      put_f(is.rd, x86::xmm2);
      return;
    }
  }
}

}  // namespace tessera::engine::native
