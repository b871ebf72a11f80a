#pragma once

#include "sim/base/errors.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"
#include "sim/program/machine_costs.h"

namespace tessera::fabric {

/// A streams fabric carries no all-to-all copies: programs name its streams, whose lists need no
/// schedule (sim/program/transfer_list.h). All functions throw UserError; only cycles() and
/// estimate() return 0 where no bytes move.
class StreamsCompiler : public program::ExchangeCompiler {
 public:
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t /*exchange*/, std::span<const program::PlacedCopy> /*copies*/) const override {
    refuse();
  }
  [[nodiscard]] Cycle cycles(std::span<const program::PlacedCopy> copies) const override {
    if (copies.empty()) return Cycle(0);
    refuse();
  }
  static Cycle estimate(const FabricConfig& /*config*/, const ExchangeLoad& load) {
    if (load.sent + load.received + load.shared == 0) return Cycle(0);
    refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw UserError(
        "machine.fabric.kind: found streams, allowed scheduled or ideal for this workload, which "
        "exchanges between all tiles");
  }
};

}  // namespace tessera::fabric
