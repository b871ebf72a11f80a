#pragma once

#include "models/fabric/list_scheduler.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// Compiles exchanges for the `scheduled` fabric: every send and receive has a fixed start cycle.
class ScheduledCompiler : public program::ExchangeCompiler {
 public:
  explicit ScheduledCompiler(const FabricConfig& config) : config_(config) {}
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;

 private:
  FabricConfig config_;
};

}  // namespace tessera::fabric
