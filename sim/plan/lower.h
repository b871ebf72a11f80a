#pragma once

#include <map>

#include "sim/plan/description.h"

namespace tessera::plan {

/// Arrays of a description that are there already, by the buffers of tiles 0, 1, ...
using Bound = std::map<BufferId, std::vector<BufferId>>;

/// Adds the described steps to `sequence` of `program`, and what they need to `program`. Returns
/// the buffers of all arrays; of tiles without a part they are not valid.
Bound lower_into(const Description& description, const Bound& bound, program::Program& program,
                 program::Sequence& sequence);

/// The program of all tiles. What the description's functions refer to outlives it.
program::Program lower(const Description& description);

}  // namespace tessera::plan
