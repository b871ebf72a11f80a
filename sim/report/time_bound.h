#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/program/image.h"
#include "sim/report/run_result.h"

/// Lower bound for a run's program on its machine. Each of these takes no more time than
/// the run, so the bound is the largest:
///  - the issue slots of the tile with most: a worker's instructions, one a cycle, or with dual
///    issue the larger of floating-point and all other slots;
///  - the issue slots and the bytes through the ports of all tiles that do anything, spread evenly;
///  - what the busiest port of each exchange needs, one exchange after the other; of streams, which
///    overlap, what the busiest port needs for all of them.
/// Where exchanges are started and waited for apart, slots and ports overlap, and only the longest
/// exchange counts; of several zones the one that needs most.
/// Leaves out: latencies, barriers, fixed costs of exchanges, supervisors, the host.
namespace tessera::report {

/// Time of a superstep's exchanges one after the other, and the largest lower bound of one.
struct Exchanges {
  Cycle makespan, bound;
  program::PortBytes ports = {};
};
Exchanges exchanges_of(const SuperstepRecord& step, const program::Images& images);

/// Bytes that tiles' ports moved, and the time that the schedules of those exchanges take.
struct PortUse {
  program::PortBytes bytes;
  Cycle makespan;
};
PortUse port_use(const program::Images& images, const RunResult& result);

/// True if transfers of the program overlap with the code that starts them, where the machine
/// allows it (machine.tile.overlap).
bool overlaps(const program::Images& images);

/// Report section: cycles (the bound) and times_bound, the run's cycles without the host's over it;
/// issue_cycles, floating_cycles, other_cycles and port_cycles, evenly spread; busiest_issue_cycles
/// and busiest_floating_cycles, of the tiles with most; exchange_cycles, of busiest ports; tiles
/// (with any floating point), active_tiles (that do anything); floating_share, of the compute
/// cycles of the former. Null where there is nothing to bound.
/// `streams`: busiest_stream() of the run.
nlohmann::ordered_json bound_section(const MachineConfig& machine, const program::Images& images,
                                     const RunResult& result, Cycle streams);

}  // namespace tessera::report
