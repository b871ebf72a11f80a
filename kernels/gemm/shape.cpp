#include "kernels/gemm/shape.h"

#include "sim/base/errors.h"

namespace tessera::gemm {

void require_unit(const MachineConfig& machine, const BlockShape& block) {
  if (macs_per_slot(machine.tile.matrix_unit, block) != 0) return;
  const bool f32 = block.input == Type::f32;
  const bool mixed = block.input != block.partial;
  throw KeyError(
      fmt::format("machine.tile.matrix_unit.{}", f32     ? "f32_macs"
                                                 : mixed ? "f16_f32_macs"
                                                         : "f16_macs"),
      fmt::format("found 0 for machine {}, allowed 1 and up where it multiplies {} and sums in {}",
                  machine.name, f32 ? "f32" : "f16", f32 || mixed ? "f32" : "f16"));
}

}  // namespace tessera::gemm
