#include "sim/report/peak.h"

#include "sim/base/errors.h"
#include "sim/engine/timing.h"
#include "sim/isa/table.h"

namespace tessera::report {
namespace {

/// FLOPs per slot of the matrix unit, or of the widest packed multiply-add if it lacks the type.
double flops_per_slot(const TileConfig& tile, const MatrixShape& shape, isa::Mnemonic packed) {
  if (shape.exists()) return 2 * shape.macs_per_slot();
  isa::Instruction instruction;
  instruction.mnemonic = packed;
  return static_cast<double>(isa::info(packed).flops) /
         engine::Timing(engine::Role::worker, tile).alone(instruction);
}

/// Operations or bytes of one slot; a tile has one slot a cycle.
double per_slot(const TileConfig& tile, const std::string& type) {
  const MatrixUnitConfig& unit = tile.matrix_unit;
  if (type == "f16") return flops_per_slot(tile, unit.f16, isa::Mnemonic::fma_4h);
  if (type == "f16_f32") return flops_per_slot(tile, unit.f16_f32, isa::Mnemonic::dot2_s_h);
  if (type == "f32") return flops_per_slot(tile, unit.f32, isa::Mnemonic::fma_2s);
  if (type == "i8") return 2 * unit.i8.macs_per_slot();
  if (type == "i16") return 2 * unit.i16.macs_per_slot();
  if (type == "bf16") return 2 * unit.bf16.macs_per_slot();
  if (type == "bytes") return tile.load_bytes_per_slot + tile.store_bytes_per_slot;
  throw Defect("report: no peak is known for type " + type);
}

}  // namespace

Peak peak_of(const MachineConfig& machine, const std::string& type) {
  return {type, per_slot(machine.tile, type) * machine.clock_ghz * 1e9 * machine.tiles,
          type == "bytes", type == "i8" || type == "i16"};
}

}  // namespace tessera::report
