#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "models/costs/remembered_exchanges.h"
#include "sim/program/fingerprint.h"
#include "sim/program/image.h"

namespace tessera {

/// What programs need, for the many machines that a forecaster plans for: a program is compiled
/// once for all that are alike to a compiler, an exchange once for all programs. For several
/// threads.
class RememberedPrograms {
 public:
  /// As program::needs.
  [[nodiscard]] program::Needs needs(const program::Program& program, const MachineConfig& machine);
  /// For programs on such a fabric whose exchanges may be known; lives as long as this.
  [[nodiscard]] std::unique_ptr<program::ExchangeSizer> exchanges(const FabricConfig& fabric) {
    return exchanges_.of(fabric);
  }
  /// Throws UserError as `needs` would where `program`, whose fingerprint is `identity`, does not
  /// fit. Schedules exchanges only where it is close.
  void require_fit(const program::Program& program, const program::Fingerprint& identity,
                   const MachineConfig& machine);

 private:
  using Key = std::pair<program::Fingerprint, std::string>;
  [[nodiscard]] program::Needs needs(const program::Program& program, const Key& key,
                                     const MachineConfig& machine);

  std::mutex mutex_;
  /// By program and program::compiled_for, but for the size of the SRAM.
  std::map<Key, program::Needs> known_;
  std::map<Key, std::uint64_t> fits_;  ///< into so many bytes a tile, at least
  RememberedExchanges exchanges_;
};

}  // namespace tessera
