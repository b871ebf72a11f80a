#pragma once

#include <string>
#include <vector>

#include "sim/isa/mnemonic.h"

#include "tools/fuzzing/faults/runs.h"

/// Faults in codelets: one instruction that a case executes is another.
namespace tessera::faults {

/// A word of a codelet.
struct Site {
  std::string codelet;
  std::uint32_t offset = 0;  ///< bytes from its begin
  isa::Instruction instruction;
  std::string code;  ///< bytes of the codelet
};

/// Instructions executed in the case, by `tessera profile`; `tile` holds the linked codelets
/// (build/PRESET/tile). Supervisors' instructions are left out: the profile does not count them.
std::vector<Site> executed_sites(const Runs& runs, const Case& of,
                                 const std::filesystem::path& tile);

/// Another instruction that stands in its place: dropped, of another mnemonic of the same operands,
/// with operands exchanged or the next register, another number, rounding or target.
isa::Instruction changed(const isa::Instruction& instruction, fuzz::Choices& choices);

/// "kernel/case: codelet+0x38: add a0, a0, a1 -> sub a0, a0, a1"
std::string described(const Case& of, const Site& site, const isa::Instruction& instruction);

/// `program` with that instruction at the site, wherever the codelet stands in it.
std::string planted(std::string program, const Site& site, const isa::Instruction& instruction);

}  // namespace tessera::faults
