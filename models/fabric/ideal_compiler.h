#pragma once

#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// Compiles exchanges for the `ideal` fabric: unlimited bandwidth, no schedule. Each copy is sent
/// once to all of its destinations; a send's start word is its number on its tile.
class IdealCompiler : public program::ExchangeCompiler {
 public:
  explicit IdealCompiler(const FabricConfig& config) : fixed_(config.fixed_cycles) {}
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  [[nodiscard]] Cycle cycles(std::span<const program::PlacedCopy> /*copies*/) const override {
    return fixed_;
  }

 private:
  Cycle fixed_;
};

}  // namespace tessera::fabric
