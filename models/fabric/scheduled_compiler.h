#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "models/fabric/list_scheduler.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"
#include "sim/program/fingerprint.h"

namespace tessera::fabric {

/// The most that the lists of an exchange can take on any fabric, however its streams are cut and
/// sent again: for what fits without a schedule. Between compute tiles.
std::vector<program::ExchangeNeeds::List> longest_lists(
    const FabricConfig& config, std::span<const program::PlacedCopy> copies);

/// How an exchange is scheduled, wherever in SRAM its copies lie.
struct Scheduled {
  Schedule schedule;         ///< its traffic is gathered and cut as below
  bool shares = false;       ///< pairs share their ports
  std::uint32_t pieces = 0;  ///< bytes that streams are cut into; 0: they are not
  program::ExchangeNeeds needs = {};
};

/// Schedules between compute tiles, for exchanges that are compiled again. For several threads.
class KeptSchedules {
 public:
  /// Rates, sharing and ways of the fabric, and whether lists are shortest; the copies.
  using Key = std::pair<std::array<std::uint32_t, 6>, program::Fingerprint>;
  /// Null: not kept.
  [[nodiscard]] std::shared_ptr<const Scheduled> find(const Key& key) const;
  /// Forgets the others where all of them have become large.
  void keep(const Key& key, std::shared_ptr<const Scheduled> scheduled);

 private:
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Scheduled>> kept_;
  std::size_t bytes_ = 0;
};

/// Compiles exchanges for the `scheduled` fabric: every send and receive has a fixed start cycle.
/// With unequal rates no exchange takes longer lists or more time than with the smaller of them
/// both ways.
class ScheduledCompiler : public program::ExchangeCompiler {
 public:
  /// `kept`: used where no nodes have ports of their own; null: nothing is kept.
  explicit ScheduledCompiler(const FabricConfig& config, NodePorts nodes = {},
                             KeptSchedules* kept = nullptr)
      : config_(config),
        nodes_(std::move(nodes)),
        kept_(nodes_.classes().size() == 1 ? kept : nullptr) {}
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  [[nodiscard]] program::ExchangeNeeds needs(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  /// Exactly the cycles of compile()'s exchange, for it makes the same schedule.
  [[nodiscard]] Cycle cycles(std::span<const program::PlacedCopy> copies) const override;
  /// Each stream is whole and is sent once.
  [[nodiscard]] std::unique_ptr<program::ExchangeSizer> shortest() const override;

 private:
  struct Plan {
    Traffic traffic;
    std::shared_ptr<const Scheduled> scheduled;
  };
  [[nodiscard]] KeptSchedules::Key key_of(std::span<const program::PlacedCopy> copies) const;
  [[nodiscard]] std::shared_ptr<const Scheduled> known(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const;
  /// Without `wants_traffic` that of a schedule that was kept is left out.
  [[nodiscard]] Plan plan(std::uint32_t exchange, std::span<const program::PlacedCopy> copies,
                          bool wants_traffic) const;
  /// Where pairs share and gaps remain, also as if every tile took its own: the shorter of both.
  [[nodiscard]] std::pair<Traffic, Scheduled> schedule(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const;
  [[nodiscard]] std::pair<Traffic, Scheduled> schedule(Traffic whole) const;
  /// Replaces a schedule of ports at the slower rate by one of ports at their own rates if that
  /// ends earlier, no tile waits longer by more than that for what it receives, and no list is
  /// longer.
  void choose_ports(const Traffic& traffic, Schedule& schedule) const;

  FabricConfig config_;
  NodePorts nodes_;
  KeptSchedules* kept_;
  bool shortest_ = false;  ///< lists
};

}  // namespace tessera::fabric
