#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"
#include "sim/isa/float/format.h"

/// Packed arithmetic and moves, as in sim/isa/packed/packed_x86.h: upper lanes hold zeros, which
/// set no flags. Cases that need that file's portable form are left to the interpreter.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;
using Id = x86::Inst::Id;

namespace {

constexpr std::uint64_t halves(std::uint16_t lane) { return lane * 0x0001'0001'0001'0001U; }
constexpr std::uint64_t singles(std::uint32_t lane) { return lane * 0x1'0000'0001U; }

constexpr std::uint16_t kMagnitudeHalf = fp::F16::kSign - 1;
constexpr int kSignShift = 31;
constexpr int kGreater = 14;  // signalling
constexpr int kUnordered = 3;

}  // namespace

bool Emitter::emit_packed(const isa::Instruction& is, const Step& step) {
  answer();  // kMask is scratch here
  mask_of_ = nullptr;
  switch (is.mnemonic) {
    case add_2s:
      packed_single(x86::Inst::kIdVaddps, is);
      return true;
    case sub_2s:
      packed_single(x86::Inst::kIdVsubps, is);
      return true;
    case mul_2s:
      packed_single(x86::Inst::kIdVmulps, is);
      return true;
    case fma_2s:
    case axpy_2s:
      fused_single(is, step);
      return true;
    case gt_2s:
      a_.vcmpps(x86::xmm2, get_f(is.rs1, x86::xmm0), get_f(is.rs2, x86::xmm1), imm(kGreater));
      put_f(is.rd, x86::xmm2);
      return true;
    default:
      return emit_packed_half(is, step) || emit_lanes(is);
  }
}

bool Emitter::emit_packed_half(const isa::Instruction& is, const Step& step) {
  switch (is.mnemonic) {
    case add_4h:
      packed_half(x86::Inst::kIdVaddps, is);
      return true;
    case sub_4h:
      packed_half(x86::Inst::kIdVsubps, is);
      return true;
    case mul_4h:
      packed_half(x86::Inst::kIdVmulps, is);
      return true;
    case fma_4h:
    case axpy_4h:
      fused_half(is, step);
      return true;
    case dot2_s_h:
      dot(is, step);
      return true;
    case gt_4h:
      a_.vcvtph2ps(x86::xmm0, get_f(is.rs1, x86::xmm0));
      a_.vcvtph2ps(x86::xmm1, get_f(is.rs2, x86::xmm1));
      a_.vcmpps(x86::xmm0, x86::xmm0, x86::xmm1, imm(kGreater));
      a_.vpackssdw(x86::xmm2, x86::xmm0, x86::xmm0);
      a_.vmovq(x86::xmm2, x86::xmm2);
      put_f(is.rd, x86::xmm2);
      return true;
    case pack_4h: {
      const Xmm low = get_f(is.rs1, x86::xmm0);
      a_.vpunpcklqdq(x86::xmm0, low, get_f(is.rs2, x86::xmm1));
      narrow(x86::xmm2, x86::xmm0);
      put_f(is.rd, x86::xmm2);
      return true;
    }
    case unpkl_2s:
    case unpkh_2s: {
      constexpr int kUpper = 32;
      const Xmm from = get_f(is.rs1, x86::xmm0);
      if (is.mnemonic == unpkh_2s)
        a_.vpsrlq(x86::xmm0, from, imm(kUpper));
      else
        a_.vpmovzxdq(x86::xmm0, from);
      a_.vcvtph2ps(x86::xmm2, x86::xmm0);
      a_.vmovq(x86::xmm2, x86::xmm2);
      canonical_singles(x86::xmm2);
      put_f(is.rd, x86::xmm2);
      return true;
    }
    default:
      return false;
  }
}

/// Rounds four lanes to f16 and makes NaN canonical; uses xmm4.
void Emitter::narrow(const Xmm& made, const Xmm& from) {
  const Label nan = a_.newLabel();
  const Label done = a_.newLabel();
  a_.vcvtps2ph(made, from, imm(0));
  a_.vpand(x86::xmm4, made, lanes(halves(kMagnitudeHalf)));
  a_.vpcmpgtw(x86::xmm4, x86::xmm4, lanes(halves(fp::F16::kInfinity)));
  a_.vptest(x86::xmm4, x86::xmm4);
  a_.jnz(nan);
  a_.bind(done);
  const Mem number = lanes(halves(fp::F16::kNan));
  cold(nan, [this, made, done, number] {
    a_.vpblendvb(made, made, number, x86::xmm4);
    a_.jmp(done);
  });
}

/// Makes NaN lanes, which are quiet, canonical; uses xmm4.
void Emitter::canonical_singles(const Xmm& value) {
  const Label nan = a_.newLabel();
  const Label done = a_.newLabel();
  a_.vcmpps(x86::xmm4, value, value, imm(kUnordered));
  a_.vptest(x86::xmm4, x86::xmm4);
  a_.jnz(nan);
  a_.bind(done);
  const Mem number = constant(singles(fp::F32::kNan));
  cold(nan, [this, value, done, number] {
    a_.vpblendvb(value, value, number, x86::xmm4);
    a_.jmp(done);
  });
}

void Emitter::packed_half(Id id, const isa::Instruction& is) {
  a_.vcvtph2ps(x86::xmm0, get_f(is.rs1, x86::xmm0));
  a_.vcvtph2ps(x86::xmm1, get_f(is.rs2, x86::xmm1));
  a_.emit(id, x86::xmm0, x86::xmm0, x86::xmm1);
  narrow(x86::xmm2, x86::xmm0);
  put_f(is.rd, x86::xmm2);
}

void Emitter::packed_single(Id id, const isa::Instruction& is) {
  const Xmm first = get_f(is.rs1, x86::xmm0);
  a_.emit(id, x86::xmm2, first, get_f(is.rs2, x86::xmm1));
  canonical_singles(x86::xmm2);
  put_f(is.rd, x86::xmm2);
}

void Emitter::fused_single(const isa::Instruction& is, const Step& step) {
  Xmm first = get_f(is.rs1, x86::xmm0);
  if (is.mnemonic == axpy_2s) {
    a_.vmovsldup(x86::xmm0, first);
    a_.vmovq(x86::xmm0, x86::xmm0);
    first = x86::xmm0;
  }
  const Xmm third = get_f(is.rs3, x86::xmm2);
  if (third != x86::xmm2) a_.vmovaps(x86::xmm2, third);
  a_.vfmadd231ps(x86::xmm2, first, get_f(is.rs2, x86::xmm1));
  a_.vcmpps(x86::xmm4, x86::xmm2, x86::xmm2, imm(kUnordered));
  a_.vptest(x86::xmm4, x86::xmm4);
  a_.jnz(leave_before(step));
  put_f(is.rd, x86::xmm2);
}

/// Rounds once: exact product, sum rounded to odd, then rounded to f16.
void Emitter::fused_half(const isa::Instruction& is, const Step& step) {
  const Xmm product = x86::xmm0;
  const Xmm addend = x86::xmm1;
  const Xmm sum = x86::xmm2;
  const Xmm part = x86::xmm3;
  const Xmm error = x86::xmm4;
  if (is.mnemonic == axpy_4h) {
    a_.vpshuflw(product, get_f(is.rs1, product), imm(0));
    a_.vcvtph2ps(product, product);
  } else {
    a_.vcvtph2ps(product, get_f(is.rs1, product));
  }
  a_.vcvtph2ps(addend, get_f(is.rs2, addend));
  a_.vmulps(product, product, addend);
  a_.vcvtph2ps(addend, get_f(is.rs3, addend));
  a_.vaddps(sum, product, addend);
  const Mem infinity = lanes(singles(fp::F32::kInfinity));
  a_.vpand(part, sum, infinity);
  a_.vpcmpeqd(part, part, infinity);
  a_.vptest(part, part);
  a_.jnz(leave_before(step));
  a_.vsubps(part, sum, product);
  a_.vsubps(error, sum, part);
  a_.vsubps(error, product, error);
  a_.vsubps(addend, addend, part);
  a_.vaddps(error, error, addend);
  // Even sums with an error become odd, away from zero if the error points that way.
  const Mem one = lanes(singles(1));
  a_.vpxor(addend, addend, addend);
  a_.vpslld(product, error, imm(1));
  a_.vpcmpeqd(product, product, addend);
  a_.vpand(part, sum, one);
  a_.vpcmpeqd(part, part, addend);
  a_.vpandn(product, product, part);
  a_.vpxor(error, error, sum);
  a_.vpsrad(error, error, imm(kSignShift));
  a_.vpor(error, error, one);
  a_.vpand(product, product, error);
  a_.vpaddd(sum, sum, product);
  narrow(x86::xmm0, sum);
  put_f(is.rd, x86::xmm0);
}

void Emitter::dot(const isa::Instruction& is, const Step& step) {
  constexpr int kEven = 0x08;  // lanes 0 and 2, then two zeros
  constexpr int kOdd = 0x0d;
  a_.vcvtph2ps(x86::xmm0, get_f(is.rs1, x86::xmm0));
  a_.vcvtph2ps(x86::xmm1, get_f(is.rs2, x86::xmm1));
  const Xmm third = get_f(is.rs3, x86::xmm2);
  if (third != x86::xmm2) a_.vmovaps(x86::xmm2, third);
  for (const int lane : {kEven, kOdd}) {
    a_.vpermilps(x86::xmm3, x86::xmm0, imm(lane));
    a_.vpermilps(x86::xmm4, x86::xmm1, imm(lane));
    a_.vmovq(x86::xmm3, x86::xmm3);
    a_.vmovq(x86::xmm4, x86::xmm4);
    a_.vfmadd231ps(x86::xmm2, x86::xmm3, x86::xmm4);
  }
  a_.vcmpps(x86::xmm4, x86::xmm2, x86::xmm2, imm(kUnordered));
  a_.vptest(x86::xmm4, x86::xmm4);
  a_.jnz(leave_before(step));
  put_f(is.rd, x86::xmm2);
}

bool Emitter::emit_lanes(const isa::Instruction& is) {
  const auto low_word = [&](unsigned fd, const Xmm& from) {
    a_.vmovq(x86::xmm2, from);
    put_f(fd, x86::xmm2);
  };
  switch (is.mnemonic) {
    case splat_h:
      a_.vpshuflw(x86::xmm2, get_f(is.rs1, x86::xmm0), imm(0));
      put_f(is.rd, x86::xmm2);
      return true;
    case splat_s:
      a_.vmovsldup(x86::xmm2, get_f(is.rs1, x86::xmm0));
      low_word(is.rd, x86::xmm2);
      return true;
    case sel: {
      const Xmm mask = get_f(is.rs1, x86::xmm0);
      a_.vpand(x86::xmm1, mask, get_f(is.rs2, x86::xmm1));
      a_.vpandn(x86::xmm2, mask, get_f(is.rs3, x86::xmm2));
      a_.vpor(x86::xmm2, x86::xmm2, x86::xmm1);
      put_f(is.rd, x86::xmm2);
      return true;
    }
    case add_2w: {
      const Xmm first = get_f(is.rs1, x86::xmm0);
      a_.vpaddd(x86::xmm2, first, get_f(is.rs2, x86::xmm1));
      put_f(is.rd, x86::xmm2);
      return true;
    }
    case zip_h:
    case zip_s: {
      const Xmm first = get_f(is.rs1, x86::xmm0);
      const Xmm second = get_f(is.rs2, x86::xmm1);
      a_.emit(is.mnemonic == zip_h ? x86::Inst::kIdVpunpcklwd : x86::Inst::kIdVpunpckldq, x86::xmm3,
              first, second);
      low_word(is.rd, x86::xmm3);
      a_.vpsrldq(x86::xmm3, x86::xmm3, imm(8));
      put_f(is.rs3, x86::xmm3);
      return true;
    }
    case mask_2s: {
      constexpr int kBoth = 3;
      a_.vmovmskps(x86::eax, get_f(is.rs1, x86::xmm0));
      a_.and_(x86::eax, imm(kBoth));
      if (is.rd != 0) put(is.rd, x86::eax);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace tessera::engine::native
