#pragma once

#include <string>
#include <vector>

#include "sim/isa/mnemonic.h"

#include "tools/fuzzing/faults/runs.h"

/// Faults in codelets: one changed instruction among those that a case executes.
namespace tessera::faults {

/// A word of a codelet.
struct Site {
  std::string codelet;
  std::uint32_t offset = 0;  ///< bytes from the codelet's start
  isa::Instruction instruction;
  std::string code;  ///< the codelet's bytes
};

/// Instructions that the case executes, from `tessera profile`; `tile` holds the linked codelets
/// (build/PRESET/tile). Leaves out supervisors' instructions, which the profile does not count.
std::vector<Site> executed_sites(const Runs& runs, const Case& of,
                                 const std::filesystem::path& tile);

/// A changed instruction: dropped, another mnemonic with the same operands, exchanged operands, the
/// next register, or another number, rounding or target.
isa::Instruction changed(const isa::Instruction& instruction, fuzz::Choices& choices);

/// "kernel/case: codelet+0x38: add a0, a0, a1 -> sub a0, a0, a1"
std::string described(const Case& of, const Site& site, const isa::Instruction& instruction);

/// `program` with the changed instruction at the site, in every copy of the codelet.
std::string planted(std::string program, const Site& site, const isa::Instruction& instruction);

}  // namespace tessera::faults
