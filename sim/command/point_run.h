#pragma once

#include "sim/command/simulator.h"
#include "sim/sweep/store.h"

namespace tessera::command {

/// Runs a config, in a process that has not run one before. Whatever goes wrong is in the result;
/// never throws.
sweep::Result run_point(const config::Config& config, const Simulator& simulator);

/// The seed that a result is reported with: of the workload's data, else of the run.
config::Json seed_of(const config::Json& resolved);

}  // namespace tessera::command
