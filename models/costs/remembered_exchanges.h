#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "models/fabric/scheduled_compiler.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"
#include "sim/program/fingerprint.h"

namespace tessera {

/// What exchanges take, for the many programs that are compiled for their needs alone: one that was
/// met on a fabric is not scheduled again, wherever in SRAM its buffers lie now. For several
/// threads.
class RememberedExchanges {
 public:
  /// For program::needs; lives as long as this.
  [[nodiscard]] std::unique_ptr<program::ExchangeSizer> of(const FabricConfig& fabric);
  /// For program::compile, which does not schedule again what was scheduled for needs; lives as
  /// long as this.
  [[nodiscard]] std::unique_ptr<program::ExchangeCompiler> compiler(const MachineConfig& machine);
  /// Forgets all if there are more than `most`.
  void keep_at_most(std::size_t most) {
    const std::lock_guard lock(mutex_);
    if (known_.size() > most) known_.clear();
  }

 private:
  class Sizer;
  using Key = std::pair<program::Fingerprint, std::string>;  ///< of the copies; the fabric

  std::mutex mutex_;
  std::map<Key, program::ExchangeNeeds> known_;
  fabric::KeptSchedules schedules_;
};

}  // namespace tessera
