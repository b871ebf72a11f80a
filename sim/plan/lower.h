#pragma once

#include "sim/plan/description.h"

namespace tessera::plan {

/// The program of all tiles. The captures of the description's functions must outlive it.
program::Program lower(const Description& description);

}  // namespace tessera::plan
