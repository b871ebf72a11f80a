#pragma once

#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

namespace tessera {

/// What the measured steps of `program` cost on a machine, found without running it: the vertices
/// of some tiles of each kind are run, the slowest counts, exchanges take what the fabric says of
/// the tile that they ask most of. Leaves out: code whose time depends on what other steps make
/// (its buffers hold their contents, or zeros), schedules that miss their bound, and that a tile
/// which ends its exchange early computes while others still move bytes; transfers with the host,
/// which a machine measures on request only. A `While` is a Defect: its turns are not known.
Prediction program_cost(const program::Program& program, MachineCosts& costs);

}  // namespace tessera
