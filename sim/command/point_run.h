#pragma once

#include "sim/command/simulator.h"
#include "sim/sweep/point_ids.h"
#include "sim/sweep/store.h"

namespace tessera::command {

/// Runs a config, in a process that has not run one before. Whatever goes wrong is in the result;
/// never throws.
sweep::Result run_point(const config::Config& config, const Simulator& simulator);

/// What a run of the config would come to, by its plan: status predicted. `forecast`: of this
/// config or of one like it. Never throws.
sweep::Result predict_point(const config::Config& config, const Forecast& forecast);

/// What answers a point.
using PointAnswer = std::function<sweep::Result(const config::Config&)>;

/// Simulating, or predicting as `simulator` does of `first` and of configs that are like it. May
/// take as long as to plan `first`.
PointAnswer point_answer(sweep::Way way, const config::Config& first, const Simulator& simulator);

/// The seed that a result is reported with: of the workload's data, else of the run.
config::Json seed_of(const config::Json& resolved);

}  // namespace tessera::command
