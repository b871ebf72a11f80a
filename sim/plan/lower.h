#pragma once

#include "sim/plan/description.h"

namespace tessera::plan {

/// The program of all tiles. What the description's functions refer to outlives it.
program::Program lower(const Description& description);

}  // namespace tessera::plan
