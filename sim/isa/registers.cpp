#include "sim/isa/registers.h"

#include "sim/isa/table.h"

namespace tessera::isa {

std::uint32_t register_number(Field field, const Instruction& instruction) {
  switch (field) {
    case Field::rd:
      return instruction.rd;
    case Field::rs1:
      return instruction.rs1;
    case Field::rs2:
      return instruction.rs2;
    case Field::rs3:
      return instruction.rs3;
    case Field::t3:
      return 28;
    case Field::t4:
      return 29;
    case Field::t5:
      return 30;
    case Field::none:
      break;
  }
  return 0;
}

namespace {

bool pairs_with_floating(IssueClass issue) {
  return issue == IssueClass::integer || issue == IssueClass::memory || issue == IssueClass::branch;
}

}  // namespace

std::uint64_t unit_registers(const Operand& operand, const Instruction& instruction) {
  const std::uint32_t number = register_number(operand.field, instruction);
  switch (operand.shape) {
    case Shape::vector:
      return std::uint64_t{3} << (RegisterSets::kHalvesAt + 2 * number);
    case Shape::half:
      return std::uint64_t{1} << (RegisterSets::kHalvesAt + number);
    case Shape::accumulator:
      return std::uint64_t{1} << (RegisterSets::kAccumulatorsAt + number);
    case Shape::mode:
      return std::uint64_t{1} << RegisterSets::kModeAt;
    default:
      return 0;
  }
}

RegisterSets registers(const Instruction& instruction) {
  RegisterSets sets;
  for (const Operand& operand : info(instruction.mnemonic).operands) {
    if (is_of_integer_unit(operand)) {
      const std::uint64_t mask = unit_registers(operand, instruction);
      if (operand.reads) sets.reads_unit |= mask;
      if (operand.writes) sets.writes_unit |= mask;
      continue;
    }
    if (operand.field == Field::none) continue;
    const std::uint32_t group = (1U << operand.registers) - 1U;
    const std::uint32_t mask = group << register_number(operand.field, instruction);
    const bool floating = operand.shape == Shape::f_register;
    if (operand.reads) (floating ? sets.reads_f : sets.reads_x) |= mask;
    if (operand.writes) (floating ? sets.writes_f : sets.writes_x) |= mask;
  }
  sets.reads_x &= ~1U;
  sets.writes_x &= ~1U;
  return sets;
}

bool may_pair(const Instruction& first, const Instruction& second) {
  const IssueClass a = info(first.mnemonic).issue;
  const IssueClass b = info(second.mnemonic).issue;
  const bool classes_fit = (a == IssueClass::floating && pairs_with_floating(b)) ||
                           (b == IssueClass::floating && pairs_with_floating(a));
  if (!classes_fit) return false;
  const RegisterSets one = registers(first);
  const RegisterSets two = registers(second);
  return (one.writes_x & (two.reads_x | two.writes_x)) == 0 &&
         (one.writes_f & (two.reads_f | two.writes_f)) == 0 &&
         (one.writes_unit & (two.reads_unit | two.writes_unit)) == 0;
}

}  // namespace tessera::isa
