#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/isa/mnemonic.h"
#include "sim/isa/operands.h"

/// table.def as data.
namespace tessera::isa {

/// Layout of an instruction's fields, as in the RISC-V manual. `amp` is r4 with a number in the rs3
/// field (and beyond: kFarOpcode), `shift` is i with a 5-bit number, `weights` is i_unsigned whose
/// number continues in the rd field, `launch` is r with a 6-bit number in funct7.
enum class Format : std::uint8_t { r, r4, i, i_unsigned, shift, s, b, u, j, amp, weights, launch };

/// Numbers of amp.* from 32 on: this opcode, and funct3 XOR bits 6:5 of the number. funct3 from
/// kFirstOwnFunct3 on: instructions of the table.
constexpr std::uint32_t kMatrixOpcode = 0x5b;
constexpr std::uint32_t kFarOpcode = 0x0b;
constexpr std::uint32_t kFirstOwnFunct3 = 4;

/// Classes of the pair rule. `control` never pairs.
enum class IssueClass : std::uint8_t { integer, memory, branch, floating, control };

/// The machine's slot cost that applies (SlotCosts; `matrix`: MatrixUnitConfig).
enum class CostClass : std::uint8_t {
  plain,
  integer_multiply,
  integer_divide,
  float_divide,
  activation,
  matrix
};

struct InstructionInfo {
  std::string_view mnemonic;
  Format format;
  std::uint32_t match;
  std::uint32_t mask;
  IssueClass issue;
  CostClass cost;
  std::uint8_t bytes_loaded;
  std::uint8_t bytes_stored;
  std::uint16_t flops;  ///< amp.*: depends on the machine
  Operands operands;
  std::string_view semantics;
};

inline constexpr std::array<InstructionInfo, kMnemonics> kTable = {{
#define X(id, mnemonic, format, match, mask, issue, cost, loaded, stored, flops, syntax, doc)   \
  {mnemonic, Format::format,   match, mask, IssueClass::issue, CostClass::cost, loaded, stored, \
   flops,    Operands(syntax), doc},
#include "sim/isa/table.def"
}};

constexpr const InstructionInfo& info(Mnemonic mnemonic) { return kTable[index(mnemonic)]; }

/// True if it uses registers of the vector unit.
constexpr bool uses_integer_unit(Mnemonic mnemonic) {
  for (const Operand& operand : info(mnemonic).operands) {
    if (is_of_integer_unit(operand)) return true;
  }
  return false;
}

/// True if an amp.* multiplies and adds; false for all other instructions.
constexpr bool feeds_matrix_unit(const Instruction& instruction) {
  constexpr std::int32_t kNoMac = 1 << 4;
  return info(instruction.mnemonic).cost == CostClass::matrix && (instruction.imm & kNoMac) == 0;
}

}  // namespace tessera::isa
