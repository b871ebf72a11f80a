#pragma once

#include "sim/program/catalogue.h"

namespace tessera::kernels {

/// Every kernel that a config can name in workload.kernel.
Catalogue catalogue();

}  // namespace tessera::kernels
