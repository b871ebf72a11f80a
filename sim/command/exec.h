#pragma once

#include <string>

#include "sim/base/errors.h"
#include "sim/command/simulator.h"
#include "sim/elf/elf.h"
#include "sim/engine/bare_program.h"

namespace tessera::command {

struct ExecRequest {
  std::string file;
  std::string machine;     ///< a preset or a file whose tile runs the program; empty: bow
  std::string max_cycles;  ///< as run.max_cycles; empty: 10^10

  [[nodiscard]] std::string machine_name() const { return machine.empty() ? "bow" : machine; }
};

/// Runs a bare RV32 program on one worker of one tile. Its output goes to stdout and stderr; its
/// exit code, cycles and instructions follow on stderr. Throws NoProgress beyond max_cycles.
ExitCode exec(const ExecRequest& request, const Simulator& simulator);

/// Executes without that last line; `profile`: fill ExecResult::profile.
engine::ExecResult execute(const elf::Program& program, const ExecRequest& request, bool profile,
                           const Simulator& simulator);

}  // namespace tessera::command
