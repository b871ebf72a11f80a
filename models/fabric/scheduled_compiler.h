#pragma once

#include "models/fabric/list_scheduler.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// The most that the lists of an exchange can take on any fabric, however its streams are cut and
/// sent again: for what fits without a schedule.
std::vector<program::ExchangeNeeds::List> longest_lists(
    const FabricConfig& config, std::span<const program::PlacedCopy> copies);

/// Compiles exchanges for the `scheduled` fabric: every send and receive has a fixed start cycle.
class ScheduledCompiler : public program::ExchangeCompiler {
 public:
  explicit ScheduledCompiler(const FabricConfig& config)
      : ports_(config), pair_sharing_(config.pair_sharing), fixed_(config.fixed_cycles) {}
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  [[nodiscard]] program::ExchangeNeeds needs(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  /// That of compile, exactly, for it makes the same schedule.
  [[nodiscard]] Cycle cycles(std::span<const program::PlacedCopy> copies) const override;

 private:
  struct Plan {
    Traffic traffic;
    Schedule schedule;
    std::uint64_t bound;
  };
  [[nodiscard]] Plan schedule(std::uint32_t exchange,
                              std::span<const program::PlacedCopy> copies) const;

  Ports ports_;
  bool pair_sharing_;
  Cycle fixed_;
};

}  // namespace tessera::fabric
