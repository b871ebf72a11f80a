#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/program/image.h"
#include "sim/report/run_result.h"

/// Lower bound for a run's program on its machine: the largest of these, none of which exceeds the
/// run's time:
///  - the issue slots of the busiest tile: a worker's instructions, one a cycle, or with dual issue
///    the larger of floating-point and all other slots;
///  - the issue slots and port bytes of all active tiles, spread evenly;
///  - the busiest port's time in each superstep's largest exchange, summed; for streams, which
///    overlap, the busiest port's time for all of them;
///  - the time of external memory's channels or DMA for the bytes moved.
/// If exchanges are started and waited for separately, slots and ports overlap, and only the
/// longest exchange counts; with several zones the one that needs most.
/// Leaves out: latencies, barriers, fixed costs of exchanges, supervisors, the host.
namespace tessera::report {

/// Total time of a superstep's exchanges, and the largest of their lower bounds.
struct Exchanges {
  Cycle makespan, bound;
  program::PortBytes ports = {};
};
Exchanges exchanges_of(const SuperstepRecord& step, const program::Images& images);

/// Bytes through the tiles' ports, and the total time of the schedules of those exchanges.
struct PortUse {
  program::PortBytes bytes;
  Cycle makespan;
};
PortUse port_use(const program::Images& images, const RunResult& result);

/// True if the program starts transfers that overlap with its code (machine.tile.overlap).
bool overlaps(const program::Images& images);

/// Report section: cycles (the bound) and times_bound, the run's cycles (without the host's) over
/// it; issue_cycles, floating_cycles, other_cycles and port_cycles, spread evenly;
/// busiest_issue_cycles and busiest_floating_cycles, of the busiest tiles; exchange_cycles, of
/// busiest ports; external_cycles; tiles (with floating point), active_tiles (with any work);
/// floating_share of the former's compute cycles. Null if there is nothing to bound. `streams`:
/// busiest_stream() of the run.
nlohmann::ordered_json bound_section(const MachineConfig& machine, const program::Images& images,
                                     const RunResult& result, Cycle streams);

}  // namespace tessera::report
