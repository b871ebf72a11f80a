#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "models/costs/remembered_samples.h"
#include "models/fabric/fabric.h"
#include "models/fabric/scheduled_compiler.h"
#include "sim/program/fingerprint.h"
#include "sim/program/image.h"

namespace tessera {

/// Caches programs' resource usage and samples' costs for the many configs that one process plans:
/// a program is compiled once for all machines equal to a compiler, an exchange once for all
/// programs. Does not change plans. Thread-safe.
class RememberedPrograms {
 public:
  /// Cached program::needs.
  [[nodiscard]] std::optional<program::ResourceUsage> resource_usage(
      const program::Program& program, const MachineConfig& machine, const program::Watch& watch);
  /// Cached program::outline for programs that planners have queried.
  [[nodiscard]] program::Images outline(const program::Program& program,
                                        const MachineConfig& machine);
  /// Compiles exchanges for this machine, reusing earlier schedules; must not outlive this object.
  [[nodiscard]] std::unique_ptr<program::ExchangeCompiler> compiler(const MachineConfig& machine) {
    auto made =
        fabric::make_exchange_compiler(machine.fabric, fabric::NodePorts(machine), &schedules_);
    made->use_threads(threads_);
    return made;
  }
  /// Host threads for each program's exchanges; results do not depend on them. Call it between two
  /// configs.
  void use_threads(unsigned threads) { threads_ = threads; }
  /// Throws UserError, as `needs` would, if `program` (with fingerprint `identity`) does not fit.
  /// Schedules exchanges only if an upper bound does not fit.
  void require_fit(const program::Program& program, const program::Fingerprint& identity,
                   const MachineConfig& machine);
  /// Costs of samples on tiles like this machine's.
  [[nodiscard]] std::shared_ptr<RememberedSamples> samples(const MachineConfig& machine);
  /// Clears caches that have become large; call it between two configs.
  void keep_small();

 private:
  using Key = std::pair<program::Fingerprint, std::string>;
  [[nodiscard]] std::optional<program::ResourceUsage> resource_usage(
      const program::Program& program, const Key& key, const MachineConfig& machine,
      const program::Watch& watch);

  /// Drops the oldest outlines if they have become large.
  void keep(const Key& key, program::Images images);

  unsigned threads_ = 1;
  std::mutex mutex_;
  /// By program and program::compiled_for, without the SRAM size.
  std::map<Key, program::ResourceUsage> known_;
  std::deque<std::pair<Key, program::Images>> outlines_;  ///< the most recent ones
  std::map<Key, std::uint64_t> fits_;                     ///< smallest SRAM bytes known to fit
  fabric::KeptSchedules schedules_;
  std::map<std::string, std::shared_ptr<RememberedSamples>> samples_;  ///< by kind of tile
};

}  // namespace tessera
