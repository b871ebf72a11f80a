#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "sim/program/fingerprint.h"
#include "sim/program/image.h"

namespace tessera {

/// What programs need, for the many machines that a forecaster plans for: a program is compiled
/// once for all that are alike to a compiler. For several threads.
class RememberedPrograms {
 public:
  /// As program::needs.
  [[nodiscard]] program::Needs needs(const program::Program& program, const MachineConfig& machine);

 private:
  std::mutex mutex_;
  /// By program and program::compiled_for, but for the size of the SRAM.
  std::map<std::pair<program::Fingerprint, std::string>, program::Needs> known_;
};

}  // namespace tessera
