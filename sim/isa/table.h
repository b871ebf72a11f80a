#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/isa/mnemonic.h"
#include "sim/isa/operands.h"

/// table.def as data.
namespace tessera::isa {

/// Where an instruction's fields stand, as in the RISC-V manual. `amp` is r4 with a number in the
/// rs3 field, `group` is r with a number in the rs1 field, `shift` is i with a 5-bit number.
enum class Format : std::uint8_t { r, r4, i, i_unsigned, shift, s, b, u, j, amp, group };

/// What the pair rule asks for. `control` never pairs.
enum class IssueClass : std::uint8_t { integer, memory, branch, floating, control };

/// Which of the machine's slot costs applies (SlotCosts; `matrix`: MatrixUnitConfig).
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
  std::uint16_t flops;
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

/// Floating-point operations that `instruction` counts for: an amp.* without multiply-adds has
/// none.
constexpr std::uint32_t flops(const Instruction& instruction) {
  constexpr std::int32_t kNoMac = 1 << 4;
  const InstructionInfo& known = info(instruction.mnemonic);
  const bool idle = known.cost == CostClass::matrix && (instruction.imm & kNoMac) != 0;
  return idle ? 0U : known.flops;
}

}  // namespace tessera::isa
