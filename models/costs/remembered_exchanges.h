#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"

namespace tessera {

/// Schedules of exchanges, for programs that are compiled for many machines: those of one machine
/// are kept, and taken again where fabric and copies are the same. For several threads.
class RememberedExchanges {
 public:
  /// Such a compiler of `fabric`, which outlives neither this nor `fabric`. Throws UserError as
  /// fabric::make_exchange_compiler does.
  [[nodiscard]] std::unique_ptr<program::ExchangeCompiler> compiler(const FabricConfig& fabric);
  /// From now on nothing more is kept.
  void seal() { sealed_ = true; }

 private:
  class Compiler;

  bool sealed_ = false;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const program::CompiledExchange>> known_;  ///< by content
};

}  // namespace tessera
