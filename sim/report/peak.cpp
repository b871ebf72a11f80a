#include "sim/report/peak.h"

#include <algorithm>
#include <initializer_list>

#include "sim/base/errors.h"
#include "sim/engine/timing.h"
#include "sim/isa/table.h"

namespace tessera::report {
namespace {

/// The highest FLOPs per slot: of the matrix unit in one of these shapes, or of packed
/// instructions, which may be faster than a unit with an interval. An add or a multiply may take
/// less than half the slots of a multiply-add.
double flops_per_slot(const TileConfig& tile, std::initializer_list<MatrixShape> shapes,
                      std::initializer_list<isa::Mnemonic> packed) {
  double most = 0;
  for (const MatrixShape& shape : shapes)
    if (shape.exists()) most = std::max(most, 2 * shape.macs_per_slot());
  const engine::Timing timing(engine::Role::worker, tile);
  for (const isa::Mnemonic mnemonic : packed) {
    isa::Instruction instruction;
    instruction.mnemonic = mnemonic;
    most = std::max(most, static_cast<double>(isa::info(mnemonic).flops) /
                              static_cast<double>(timing.alone(instruction)));
  }
  return most;
}

/// Operations or bytes of one slot; a tile has one slot a cycle.
double per_slot(const TileConfig& tile, const std::string& type) {
  const MatrixUnitConfig& unit = tile.matrix_unit;
  using isa::Mnemonic;
  if (type == "f16")
    return flops_per_slot(tile, {unit.f16, unit.f16_f32},
                          {Mnemonic::fma_4h, Mnemonic::add_4h, Mnemonic::mul_4h});
  if (type == "f16_f32") return flops_per_slot(tile, {unit.f16_f32}, {Mnemonic::dot2_s_h});
  if (type == "f32")
    return flops_per_slot(tile, {unit.f32}, {Mnemonic::fma_2s, Mnemonic::add_2s, Mnemonic::mul_2s});
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
