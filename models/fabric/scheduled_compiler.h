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

/// Upper bounds on the list sizes of an exchange between compute tiles, however its streams are cut
/// and repeated: shows that a program fits without making a schedule.
std::vector<program::ExchangeUsage::List> longest_lists(
    const FabricConfig& config, std::span<const program::PlacedCopy> copies);

/// The schedule of an exchange, independent of its copies' SRAM addresses.
struct Scheduled {
  Schedule schedule;         ///< of traffic gathered and cut as below
  bool shares = false;       ///< pairs share their ports
  std::uint32_t pieces = 0;  ///< bytes per piece of cut streams; 0: uncut
  program::ExchangeUsage usage = {};
};

/// Cache of schedules between compute tiles, for exchanges that are compiled again. Thread-safe.
class KeptSchedules {
 public:
  /// The fabric's rates, sharing and distances, and whether lists are shortest; the copies.
  using Key = std::pair<std::array<std::uint32_t, 6>, program::Fingerprint>;
  /// Null if not cached.
  [[nodiscard]] std::shared_ptr<const Scheduled> find(const Key& key) const;
  /// Adds a schedule; clears the cache first if it has become large.
  void keep(const Key& key, std::shared_ptr<const Scheduled> scheduled);

 private:
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Scheduled>> kept_;
  std::size_t bytes_ = 0;
};

/// Compiles exchanges for the `scheduled` fabric: every send and receive has a fixed start cycle.
/// With unequal rates no exchange has longer lists or takes more time than with the smaller rate in
/// both directions.
class ScheduledCompiler : public program::ExchangeCompiler {
 public:
  /// `kept`: cache, used if no class of nodes has its own ports; null: no cache.
  explicit ScheduledCompiler(const FabricConfig& config, NodePorts nodes = {},
                             KeptSchedules* kept = nullptr)
      : config_(config),
        nodes_(std::move(nodes)),
        kept_(nodes_.classes().size() == 1 ? kept : nullptr) {}
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  [[nodiscard]] program::ExchangeUsage resource_usage(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  /// Exactly the cycles of compile()'s exchange: it makes the same schedule.
  [[nodiscard]] Cycle cycles(std::span<const program::PlacedCopy> copies) const override;
  /// Sizes lists with each stream uncut and sent once.
  [[nodiscard]] std::unique_ptr<program::ExchangeSizer> shortest() const override;

 private:
  struct Plan {
    Traffic traffic;
    std::shared_ptr<const Scheduled> scheduled;
  };
  [[nodiscard]] KeptSchedules::Key key_of(std::span<const program::PlacedCopy> copies) const;
  [[nodiscard]] std::shared_ptr<const Scheduled> known(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const;
  /// Without `wants_traffic`, Plan::traffic stays empty for a cached schedule.
  [[nodiscard]] Plan plan(std::uint32_t exchange, std::span<const program::PlacedCopy> copies,
                          bool wants_traffic) const;
  /// Where pairs share and gaps remain, also schedules without sharing and takes the shorter.
  [[nodiscard]] std::pair<Traffic, Scheduled> schedule(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const;
  [[nodiscard]] std::pair<Traffic, Scheduled> schedule(Traffic whole) const;
  /// Replaces a schedule at the slower port's rate by one that uses the ports' own rates if it ends
  /// earlier, delays no tile's last reception by more than it saves, and makes no list longer.
  void choose_ports(const Traffic& traffic, Schedule& schedule) const;

  FabricConfig config_;
  NodePorts nodes_;
  KeptSchedules* kept_;
  bool shortest_ = false;  ///< lists
};

}  // namespace tessera::fabric
