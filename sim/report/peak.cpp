#include "sim/report/peak.h"

#include "sim/base/errors.h"

namespace tessera::report {
namespace {

/// Operations or bytes of one slot; a tile has one slot a cycle.
double per_slot(const TileConfig& tile, const std::string& type) {
  if (type == "f16") return 2 * tile.matrix_unit.f16.macs_per_slot();
  if (type == "f16_f32") return 2 * tile.matrix_unit.f16_f32.macs_per_slot();
  if (type == "f32") return 2 * tile.matrix_unit.f32.macs_per_slot();
  if (type == "i8") return 2 * tile.matrix_unit.i8.macs_per_slot();
  if (type == "bytes") return tile.load_bytes_per_slot + tile.store_bytes_per_slot;
  throw Defect("report: no peak is known for type " + type);
}

}  // namespace

Peak peak_of(const MachineConfig& machine, const std::string& type) {
  return {type, per_slot(machine.tile, type) * machine.clock_ghz * 1e9 * machine.tiles,
          type == "bytes"};
}

}  // namespace tessera::report
