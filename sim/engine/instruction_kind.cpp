#include "sim/engine/instruction_kind.h"

#include <algorithm>

#include "sim/isa/table.h"

namespace tessera::engine {

using isa::Instruction;
using isa::IssueClass;
using isa::Mnemonic;

namespace {

/// True if the operand in the rd field is an integer register that is written.
bool writes_rd(Mnemonic mnemonic) {
  const auto& operands = isa::info(mnemonic).operands;
  return std::ranges::any_of(operands, [](const isa::Operand& operand) {
    return operand.field == isa::Field::rd && operand.shape == isa::Shape::x_register &&
           operand.writes;
  });
}

}  // namespace

bool is_csr(Mnemonic mnemonic) {
  return mnemonic >= Mnemonic::csrrw && mnemonic <= Mnemonic::csrrci;
}

bool is_straight(const Instruction& instruction) {
  const IssueClass issue = isa::info(instruction.mnemonic).issue;
  if (issue == IssueClass::branch || instruction.mnemonic == Mnemonic::rpt) return false;
  if (issue != IssueClass::control || instruction.mnemonic == Mnemonic::fence) return true;
  return instruction.mnemonic == Mnemonic::xctl && instruction.imm == xctl::kClearBanks;
}

bool is_conditional(Mnemonic mnemonic) {
  return isa::info(mnemonic).issue == IssueClass::branch && mnemonic != Mnemonic::jal &&
         mnemonic != Mnemonic::jalr;
}

bool is_integer_arithmetic(Mnemonic m) {
  using enum Mnemonic;
  return m == lui || m == auipc || (m >= addi && m <= and_) || (m >= mul && m <= remu) ||
         (m >= sh1add && m <= sh3add);
}

bool has_rounding(Mnemonic mnemonic) {
  const auto& operands = isa::info(mnemonic).operands;
  return std::ranges::any_of(
      operands, [](const isa::Operand& operand) { return operand.shape == isa::Shape::rounding; });
}

bool rounds_as_host(const Instruction& instruction) {
  constexpr std::uint8_t kDynamic = 7;
  constexpr std::uint8_t kToZero = 1;
  switch (instruction.mnemonic) {
    case Mnemonic::fcvt_w_s:
    case Mnemonic::fcvt_wu_s:
    case Mnemonic::fcvt_w_h:
    case Mnemonic::fcvt_wu_h:
      return instruction.rm == kToZero;
    default:
      return instruction.rm == 0 || instruction.rm == kDynamic;
  }
}

void set_operands(Op& op, const Instruction& instruction, std::uint32_t pc) {
  op.rd = instruction.rd;
  op.rs1 = instruction.rs1;
  op.rs2 = instruction.rs2;
  op.rs3 = instruction.rs3;
  op.imm = has_rounding(instruction.mnemonic) ? instruction.rm : instruction.imm;
  if (instruction.mnemonic == Mnemonic::bdnz) op.rd = instruction.rs1;
  const bool written = writes_rd(instruction.mnemonic) || instruction.mnemonic == Mnemonic::bdnz;
  if (written && op.rd == 0) op.rd = kSink;
  if (instruction.mnemonic == Mnemonic::auipc)
    op.imm = static_cast<std::int32_t>(pc + static_cast<std::uint32_t>(op.imm));
  if (instruction.mnemonic == Mnemonic::jal) op.imm = static_cast<std::int32_t>(pc + 4);
}

bool uses_banks(const Instruction& instruction) {
  if (instruction.mnemonic == Mnemonic::xctl) return instruction.imm == xctl::kClearBanks;
  return isa::uses_integer_unit(instruction.mnemonic) ||
         isa::info(instruction.mnemonic).cost == isa::CostClass::matrix;
}

Stop stop_of(const Instruction& instruction) {
  switch (instruction.mnemonic) {
    case Mnemonic::run:
    case Mnemonic::run_block:
      return Stop::run;
    case Mnemonic::exch:
      return Stop::exchange_start;
    case Mnemonic::exch_wait:
      return Stop::exchange_wait;
    case Mnemonic::ldma:
    case Mnemonic::sdma:
      return Stop::dma;
    case Mnemonic::ldcw:
      return Stop::load_weights;
    case Mnemonic::xctl:
      return instruction.imm == 0             ? Stop::end_worker
             : instruction.imm == xctl::kJoin ? Stop::join
                                              : Stop::sync;
    default:
      return Stop::environment_call;
  }
}

}  // namespace tessera::engine
