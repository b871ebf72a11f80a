#pragma once

#include <utility>

#include "models/fabric/list_scheduler.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// The most that the lists of an exchange can take on any fabric, however its streams are cut and
/// sent again: for what fits without a schedule. Between compute tiles.
std::vector<program::ExchangeNeeds::List> longest_lists(
    const FabricConfig& config, std::span<const program::PlacedCopy> copies);

/// Compiles exchanges for the `scheduled` fabric: every send and receive has a fixed start cycle.
/// With unequal rates no exchange takes longer lists or more time than with the smaller of them
/// both ways.
class ScheduledCompiler : public program::ExchangeCompiler {
 public:
  explicit ScheduledCompiler(const FabricConfig& config, NodePorts nodes = {})
      : config_(config), nodes_(std::move(nodes)) {}
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
    program::PortBytes port_bytes;
  };
  /// Where pairs share and gaps remain, also as if every tile took its own: the shorter of both.
  [[nodiscard]] Plan schedule(std::uint32_t exchange,
                              std::span<const program::PlacedCopy> copies) const;
  [[nodiscard]] Plan schedule(Traffic whole) const;
  /// Replaces a schedule of ports at the slower rate by one of ports at their own rates if that
  /// ends earlier, no tile waits longer by more than that for what it receives, and no list is
  /// longer.
  void choose_ports(const Traffic& traffic, Schedule& schedule) const;

  FabricConfig config_;
  NodePorts nodes_;
};

}  // namespace tessera::fabric
