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

/// Keeps the resource usage of programs and the costs of samples for the many configs that one
/// process plans: a program is compiled once for all machines that are alike to a compiler, an
/// exchange once for all programs. Does not change plans. For several threads.
class RememberedPrograms {
 public:
  /// As program::needs.
  [[nodiscard]] std::optional<program::Needs> needs(const program::Program& program,
                                                    const MachineConfig& machine,
                                                    const program::Watch& watch);
  /// As program::outline: that of a program that planners have asked for is kept.
  [[nodiscard]] program::Images outline(const program::Program& program,
                                        const MachineConfig& machine);
  /// Compiles exchanges for this machine, those that were met before without a schedule of their
  /// own; lives as long as this.
  [[nodiscard]] std::unique_ptr<program::ExchangeCompiler> compiler(const MachineConfig& machine) {
    return fabric::make_exchange_compiler(machine.fabric, fabric::NodePorts(machine), &schedules_);
  }
  /// Throws UserError as `needs` would where `program`, whose fingerprint is `identity`, does not
  /// fit. Schedules exchanges only where it is close.
  void require_fit(const program::Program& program, const program::Fingerprint& identity,
                   const MachineConfig& machine);
  /// Costs of samples on tiles like this machine's.
  [[nodiscard]] std::shared_ptr<RememberedSamples> samples(const MachineConfig& machine);
  /// Forgets where it has become large: to be called between two configs.
  void keep_small();

 private:
  using Key = std::pair<program::Fingerprint, std::string>;
  [[nodiscard]] std::optional<program::Needs> needs(const program::Program& program, const Key& key,
                                                    const MachineConfig& machine,
                                                    const program::Watch& watch);

  /// Forgets the first where they have become large.
  void keep(const Key& key, program::Images images);

  std::mutex mutex_;
  /// By program and program::compiled_for, but for the size of the SRAM.
  std::map<Key, program::Needs> known_;
  std::deque<std::pair<Key, program::Images>> outlines_;  ///< those that were made last
  std::map<Key, std::uint64_t> fits_;                     ///< into so many bytes a tile, at least
  fabric::KeptSchedules schedules_;
  std::map<std::string, std::shared_ptr<RememberedSamples>> samples_;  ///< by kind of tile
};

}  // namespace tessera
