#pragma once

#include <cstdint>

#include "sim/isa/mnemonic.h"
#include "sim/isa/table.h"

namespace tessera::isa {

/// Sets of register numbers as bit masks. Without x0, which carries no dependence.
struct RegisterSets {
  std::uint32_t reads_x = 0;
  std::uint32_t reads_f = 0;
  std::uint32_t writes_x = 0;
  std::uint32_t writes_f = 0;
  // Registers of the vector unit, by the bits below:
  std::uint64_t reads_unit = 0;
  std::uint64_t writes_unit = 0;

  static constexpr unsigned kHalvesAt = 0;
  static constexpr unsigned kAccumulatorsAt = kHalves;
  static constexpr unsigned kModeAt = kAccumulatorsAt + kAccumulators;
  static constexpr unsigned kUnitRegisters = kModeAt + 1;
};

/// The number of the register in `field`; 0 if there is none.
std::uint32_t register_number(Field field, const Instruction& instruction);

/// Registers that `instruction` reads and writes: advanced address registers, second destinations,
/// register groups and the fixed registers of ld2st included. fcsr, ACC and EXC are not.
RegisterSets registers(const Instruction& instruction);

/// Bits of RegisterSets for an operand of the vector unit: a vector register is its two halves.
std::uint64_t unit_registers(const Operand& operand, const Instruction& instruction);

/// True if the two, in program order in one 8-byte-aligned pair, may take one slot: one integer,
/// memory or branch instruction and one floating-point instruction, and the second neither reads
/// nor writes a register that the first writes. Write-after-read is allowed.
bool may_pair(const Instruction& first, const Instruction& second);

}  // namespace tessera::isa
