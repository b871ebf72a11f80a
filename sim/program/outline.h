#pragma once

#include "sim/program/exchange_compiler.h"
#include "sim/program/image.h"

namespace tessera::program {

/// As compile, with the same errors: where all lies and what it takes, without the bytes that only
/// a run needs.
Images outline(const Program& program, const MachineConfig& machine,
               const ExchangeSizer& exchanges);

}  // namespace tessera::program
