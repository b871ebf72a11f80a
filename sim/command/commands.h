#pragma once

#include "sim/command/command.h"
#include "sim/command/simulator.h"

/// The commands, each in the file of its name. `simulator` must outlive them.
namespace tessera::command {

Command run_command(const Simulator& simulator);
Command check_command(const Simulator& simulator);  ///< in run.cpp
Command exec_command(const Simulator& simulator);
Command disasm_command();
Command list_command(const Simulator& simulator);
Command schema_command(const Simulator& simulator);  ///< in list.cpp
Command validate_command(const Simulator& simulator);
Command report_command(const Simulator& simulator);
Command sweep_command(const Simulator& simulator);
Command sensitivity_command(const Simulator& simulator);
Command eval_command(const Simulator& simulator);
Command plot_command();
Command explain_command(const Simulator& simulator);
Command docs_command(const Simulator& simulator);
Command profile_command(const Simulator& simulator);

}  // namespace tessera::command
