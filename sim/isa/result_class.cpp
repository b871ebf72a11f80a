#include "sim/isa/result_class.h"

#include "sim/isa/table.h"

namespace tessera::isa {

Arithmetic arithmetic_of(Mnemonic mnemonic) {
  using enum Mnemonic;
  switch (mnemonic) {
    case fadd_s:
    case fsub_s:
    case fadd_h:
    case fsub_h:
    case add_2s:
    case sub_2s:
    case add_4h:
    case sub_4h:
    case sum_2s:
      return Arithmetic::add;
    case fmul_s:
    case fmul_h:
    case mul_2s:
    case mul_4h:
      return Arithmetic::multiply;
    case add_2w:
      return Arithmetic::integer_add;
    default:
      break;
  }
  const InstructionInfo& known = info(mnemonic);
  const bool fused = known.cost == CostClass::plain && known.flops > 1;
  return fused ? Arithmetic::fused : Arithmetic::none;
}

std::uint32_t arithmetic_lanes(Mnemonic mnemonic) {
  const Arithmetic arithmetic = arithmetic_of(mnemonic);
  if (arithmetic == Arithmetic::none) return 0;
  if (arithmetic == Arithmetic::integer_add) return 2;
  return info(mnemonic).flops / (arithmetic == Arithmetic::fused ? 2U : 1U);
}

namespace {

ResultClass arithmetic_class(Mnemonic mnemonic) {
  const bool f16 = info(mnemonic).mnemonic.ends_with("h") && mnemonic != Mnemonic::dot2_s_h;
  switch (arithmetic_of(mnemonic)) {
    case Arithmetic::add:
      return f16 ? ResultClass::f16_add : ResultClass::f32_add;
    case Arithmetic::multiply:
      return f16 ? ResultClass::f16_multiply : ResultClass::f32_multiply;
    case Arithmetic::fused:
      return f16 ? ResultClass::f16_fma : ResultClass::f32_fma;
    case Arithmetic::integer_add:
    case Arithmetic::none:
      break;
  }
  return ResultClass::float_move;
}

}  // namespace

ResultClass result_class(Mnemonic mnemonic) {
  const InstructionInfo& known = info(mnemonic);
  switch (known.cost) {
    case CostClass::integer_multiply:
      return ResultClass::integer_multiply;
    case CostClass::integer_divide:
      return ResultClass::integer_divide;
    case CostClass::float_divide:
      return mnemonic == Mnemonic::fsqrt_s || mnemonic == Mnemonic::fsqrt_h
                 ? ResultClass::square_root
                 : ResultClass::float_divide;
    case CostClass::activation:
      return ResultClass::activation;
    case CostClass::matrix:
      return ResultClass::matrix;
    case CostClass::plain:
      break;
  }
  if (known.issue == IssueClass::floating) return arithmetic_class(mnemonic);
  return ResultClass::integer;
}

}  // namespace tessera::isa
