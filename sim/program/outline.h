#pragma once

#include <optional>

#include "sim/program/exchange_compiler.h"
#include "sim/program/image.h"

namespace tessera::program {

/// As compile, with the same errors, but only addresses and sizes: without the bytes that a run
/// needs.
Images outline(const Program& program, const MachineConfig& machine,
               const ExchangeSizer& exchanges);
/// As above; nothing if `watch` stops it.
std::optional<Images> outline(const Program& program, const MachineConfig& machine,
                              const ExchangeSizer& exchanges, const Watch& watch);

/// The resource usage of an outline.
ResourceUsage usage_of(const Images& images);

}  // namespace tessera::program
