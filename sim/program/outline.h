#pragma once

#include <optional>

#include "sim/program/exchange_compiler.h"
#include "sim/program/image.h"

namespace tessera::program {

/// As compile, with the same errors: where all lies and what it takes, without the bytes that only
/// a run needs.
Images outline(const Program& program, const MachineConfig& machine,
               const ExchangeSizer& exchanges);
/// As above; nothing if `watch` stops it.
std::optional<Images> outline(const Program& program, const MachineConfig& machine,
                              const ExchangeSizer& exchanges, const Watch& watch);

/// The needs that an outline shows.
Needs needs_of(const Images& images);

}  // namespace tessera::program
