#pragma once

#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

#include "sim/machine/machine_config.h"
#include "sim/program/program.h"
#include "sim/report/run_result.h"

namespace tessera::report {

/// The section `stages` of a report. A node begins a stage with a superstep of that name, in which
/// nothing computes; or a superstep says its stage (ComputeSet::stage) and all tiles take it
/// together. In the program's order: cycles from the end of the stage before to its last compute
/// tile's; what the tile that computes most computed and waited; for each kind of stream, by what
/// moved meanwhile, cycles of its busiest port, and bytes; where tiles go together, cycles and
/// bytes of exchanges. Null without stages.
nlohmann::ordered_json stages_section(const MachineConfig& machine, const program::Program& program,
                                      const RunResult& result);

/// Cycles that the busiest port of all kinds of streams needs for what moved; 0 without streams.
[[nodiscard]] Cycle busiest_stream(const MachineConfig& machine, const program::Program& program,
                                   const RunResult& result);

/// Numbers of the kinds of streams on which something moved.
[[nodiscard]] std::set<std::uint32_t> streams_sent(const MachineConfig& machine,
                                                   const program::Program& program,
                                                   const RunResult& result);

}  // namespace tessera::report
