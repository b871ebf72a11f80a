#pragma once

#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

#include "sim/machine/machine_config.h"
#include "sim/program/program.h"
#include "sim/report/run_result.h"

namespace tessera::report {

/// The section `stages` of a report; null without stages. A stage begins at a node's superstep
/// without vertices, or is named by a superstep that all tiles take together (ComputeSet::stage).
/// In program order: cycles from the end of the previous stage to the last compute tile's end;
/// cycles that the tile with most computation computed and waited; per kind of stream that moved
/// data, cycles of its busiest port, and bytes; if tiles go together, cycles and bytes of
/// exchanges.
nlohmann::ordered_json stages_section(const MachineConfig& machine, const program::Program& program,
                                      const RunResult& result);

/// Cycles that the busiest port needs, over all kinds of streams; 0 without streams.
[[nodiscard]] Cycle busiest_stream(const MachineConfig& machine, const program::Program& program,
                                   const RunResult& result);

/// Indices of the kinds of streams that moved data.
[[nodiscard]] std::set<std::uint32_t> streams_sent(const MachineConfig& machine,
                                                   const program::Program& program,
                                                   const RunResult& result);

}  // namespace tessera::report
