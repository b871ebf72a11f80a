#pragma once

#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// Compiles exchanges for the `ideal` fabric: unlimited bandwidth, no schedule. Each copy is sent
/// once to all of its destinations; a send's start word is its number on its tile.
class IdealCompiler : public program::ExchangeCompiler {
 public:
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
};

}  // namespace tessera::fabric
