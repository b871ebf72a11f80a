#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/program/image.h"
#include "sim/report/run_result.h"

/// What a run's program cannot take less than, phase after phase: the slots that floating-point
/// instructions of its tile code hold, spread evenly over the tiles that have some, one a cycle,
/// and in each exchange what the busiest port needs. Leaves out: loads, stores and integer slots
/// beside them, barriers, the host.
namespace tessera::report {

/// The exchange that a superstep begins with: its last step, or the one that its compute set
/// follows; `none` if there is none.
const program::StepInfo& exchange_of(const SuperstepRecord& step, const program::Images& images,
                                     const program::StepInfo& none);

/// Report section: cycles (the bound), floating_cycles, busiest_floating_cycles (of the tile with
/// most), tiles (with any), exchange_cycles, floating_share (of the tiles' compute cycles) and
/// times_bound, the run's cycles without the host's over the bound. Null where there is
/// nothing to bound.
nlohmann::ordered_json bound_section(const program::Images& images, const RunResult& result);

}  // namespace tessera::report
