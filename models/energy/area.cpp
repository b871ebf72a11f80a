#include "models/energy/area.h"

#include <algorithm>
#include <cmath>

#include "sim/base/types.h"
#include "sim/machine/nodes.h"

namespace tessera::energy {
namespace {

constexpr double kMm2PerUm2 = 1e-6;
/// 32 integer registers of 32 bits and 32 floating-point registers of 64 (sim/isa).
constexpr double kRegisterBits = 32 * 32 + 32 * 64;
constexpr double kIntegerUnitBits = 12 * 512 + 8 * 1024;  // vectors, accumulators

double tile_sram_mm2(const TileConfig& tile, const EnergyConfig& table) {
  return tile.sram_kib / kKibPerMib * table.area.sram_mm2_per_mib;
}

/// um2 at 45 nm (Horowitz, ISSCC 2014): splits vector_um2 and integer_um2 into their parts.
constexpr double kF16Add = 1360, kF16Multiply = 1640;
constexpr double kF32Add = 4184, kF32Multiply = 7700;
constexpr double kIntegerAdd = 137, kIntegerMultiply = 3495;
constexpr std::uint32_t kMostF32Lanes = 2;

/// Issues per slot. A unit that takes operands every n-th slot has 1/n of the arrays, as in the
/// matrix unit; a software routine has almost none.
double rate(std::uint32_t slots, std::uint32_t interval) { return 1.0 / std::max(slots, interval); }

/// One adder and one multiplier per parallel lane; fused operations use both.
double vector_um2(const TileConfig& tile, const AreaConfig& area) {
  const SlotCosts& slots = tile.slots;
  const std::uint32_t interval = tile.interval.floating;
  const double adds = rate(std::min(slots.float_add, slots.float_fma), interval);
  const double multiplies = rate(std::min(slots.float_multiply, slots.float_fma), interval);
  const auto lanes = [&](std::uint32_t count, double add_rate, double multiply_rate) {
    return count * (kF16Add * add_rate + kF16Multiply * multiply_rate) +
           std::min(count, kMostF32Lanes) * (kF32Add * add_rate + kF32Multiply * multiply_rate);
  };
  return area.vector_um2 * lanes(slots.float_lanes, adds, multiplies) /
         lanes(SlotCosts{}.float_lanes, 1, 1);
}

double integer_um2(const TileConfig& tile, const AreaConfig& area) {
  const double multiplies = rate(tile.slots.integer_multiply, tile.interval.integer_multiply);
  return area.integer_um2 * (kIntegerAdd + kIntegerMultiply * multiplies) /
         (kIntegerAdd + kIntegerMultiply);
}

/// Divide and square root find one result bit per adder row (digit recurrence; cores.md 1.2:
/// bsg_idiv_iterative has a row, 32 steps), so fewer slots need more rows. Activations interpolate
/// a table quadratically: three multiply-adds of f32 (Oberman and Siu, ARITH 2005), in parallel if
/// in fewer slots. The tables are left out.
double iterative_um2(const TileConfig& tile, const AreaConfig& area) {
  constexpr double kIntegerBits = 32, kFloatBits = 26, kSteps = 3;  // 24 bits and two to round
  const double bit =                                                // of a row
      area.integer_um2 * kIntegerAdd / (kIntegerAdd + kIntegerMultiply) / kIntegerBits;
  const double divides =
      kIntegerBits * kIntegerBits * rate(tile.slots.integer_divide, tile.interval.integer_divide) +
      kFloatBits * kFloatBits * rate(tile.slots.float_divide, tile.interval.float_divide);
  const double multiply_add = area.vector_um2 * (kF32Add + kF32Multiply) /
                              (4 * (kF16Add + kF16Multiply) + 2 * (kF32Add + kF32Multiply));
  return divides * bit +
         kSteps * multiply_add * rate(tile.slots.activation, tile.interval.activation);
}

/// f16 and f32 have separate arrays; both partial types of f16 share one.
double matrix_um2(const MatrixUnitConfig& unit, const AreaConfig& area) {
  return std::max(unit.f16.macs_per_slot(), unit.f16_f32.macs_per_slot()) * area.f16_mac_um2 +
         unit.f32.macs_per_slot() * area.f32_mac_um2 + unit.i8.macs_per_slot() * area.i8_mac_um2 +
         unit.i16.macs_per_slot() * area.i16_mac_um2 +
         unit.bf16.macs_per_slot() * area.bf16_mac_um2;
}

/// The weight registers W, sized for the input type that needs most.
double weight_store_um2(const MatrixUnitConfig& unit, const AreaConfig& area) {
  return unit.weight_words() * 64.0 * area.register_bit_um2;
}

/// Registers of all contexts, with the workers' accumulators (ACC) and exchange ports (EXC).
double registers_um2(const TileConfig& tile, const AreaConfig& area) {
  const double sums = 2.0 * tile.contexts * tile.matrix_unit.bank_sums();
  const double integers = tile.matrix_unit.has_vectors() ? tile.contexts * kIntegerUnitBits : 0.0;
  return ((tile.contexts + 1) * kRegisterBits + sums * 32 + integers) * area.register_bit_um2;
}

double memory_ports_um2(const TileConfig& tile, const EnergyConfig& table) {
  const double banks = std::ceil(tile.sram_kib / bank_kib(tile, table));
  const std::uint32_t weights =
      tile.matrix_unit.weight_words() > 0 ? tile.matrix_unit.weight_load_bytes_per_cycle : 0;
  return banks * (tile.load_bytes_per_slot + tile.store_bytes_per_slot + weights) *
         table.area.crosspoint_um2_per_byte;
}

/// Nodes of one class: count, core, and bytes per cycle to and from the fabric.
struct Kind {
  std::uint32_t count;
  TileConfig tile;
  std::uint32_t sends, receives;
};

std::vector<Kind> kinds_of(const MachineConfig& machine) {
  using Direction = PortConfig::Direction;
  const FabricConfig& fabric = machine.fabric;
  std::vector<Kind> kinds{
      {machine.tiles, machine.tile, fabric.send_bytes_per_cycle, fabric.receive_bytes_per_cycle}};
  for (const NodeConfig& node : machine.nodes) {
    kinds.push_back(
        {node.count, node.tile,
         fabric.send_bytes_per_cycle * port_factor(machine, node, Direction::send),
         fabric.receive_bytes_per_cycle * port_factor(machine, node, Direction::receive)});
    if (node.tile.contexts == 0) kinds.back().tile.matrix_unit = MatrixUnitConfig();
  }
  return kinds;
}

/// The multiplexer between a tile's own and its partner's input.
double pair_sharing_um2(const MachineConfig& machine, const Kind& kind) {
  if (machine.fabric.kind == "ideal" || !machine.fabric.pair_sharing) return 0;
  return kind.receives * machine.energy.area.crosspoint_um2_per_byte;
}

/// Per tile: it drives a bus past all tiles (as wide as its send rate) and listens to all buses
/// through multiplexers (as wide as its receive rate), however its streams share them. So each byte
/// of a bus crosses a byte of a multiplexer at every tile: half of a crosspoint is the bus's wire
/// and driver, half the switch.
double exchange_um2(const MachineConfig& machine, const Kind& kind) {
  if (machine.fabric.kind == "ideal") return 0;  // no real machine has an ideal fabric
  const double bytes = (kind.sends + kind.receives) / 2.0;
  return node_count(machine) * bytes * machine.energy.area.crosspoint_um2_per_byte;
}

EnergyResult::Parts area_of(const MachineConfig& machine, const Kind& kind) {
  const TileConfig& tile = kind.tile;
  const EnergyConfig& table = machine.energy;
  const AreaConfig& area = table.area;
  const auto all = [&](double um2) { return kind.count * um2 * kMm2PerUm2; };
  return {{"sram", kind.count * tile_sram_mm2(tile, table)},
          {"matrix_unit",
           all(matrix_um2(tile.matrix_unit, area) + weight_store_um2(tile.matrix_unit, area))},
          {"arithmetic",
           all(vector_um2(tile, area) + integer_um2(tile, area) + iterative_um2(tile, area))},
          {"control", all(area.control_um2 * (tile.dual_issue ? 2 : 1))},
          {"registers", all(registers_um2(tile, area))},
          {"memory_ports", all(memory_ports_um2(tile, table))},
          {"exchange", all(exchange_um2(machine, kind) + pair_sharing_um2(machine, kind))},
          {"rest", kind.count * area.rest_mm2_per_tile}};
}

double logic_of(const EnergyResult::Parts& parts) {
  double sum = 0;
  for (const auto& [part, mm2] : parts)
    if (part != "sram") sum += mm2;
  return sum;
}

}  // namespace

EnergyResult::Parts chip_area(const MachineConfig& machine) {
  EnergyResult::Parts sum;
  for (const Kind& kind : kinds_of(machine)) {
    EnergyResult::Parts parts = area_of(machine, kind);
    if (sum.empty()) sum.swap(parts);
    for (std::size_t i = 0; i < parts.size(); ++i) sum[i].second += parts[i].second;
  }
  return sum;
}

std::vector<ClassSize> class_sizes(const MachineConfig& machine) {
  std::vector<ClassSize> sizes;
  for (const Kind& kind : kinds_of(machine))
    sizes.push_back({kind.count, kind.count * (kind.tile.sram_kib / kKibPerMib),
                     logic_of(area_of(machine, kind))});
  return sizes;
}

double logic_mm2(const MachineConfig& machine) { return logic_of(chip_area(machine)); }

fabric::Floorplan floorplan(const MachineConfig& machine) {
  const EnergyResult::Parts parts = chip_area(machine);
  const double mm2 = parts.front().second + logic_of(parts);
  const double side_um = std::sqrt(mm2) * kMicrometresPerMm;
  const std::uint32_t pairs = ceil_div(node_count(machine), 2U);
  const std::uint32_t columns = std::min(machine.fabric.columns, pairs);
  const std::uint32_t rows = ceil_div(pairs, columns);
  // At least 1 um, since pitches of 0 mean an unknown floorplan.
  const auto pitch = [side_um](std::uint32_t count) {
    return static_cast<std::uint32_t>(std::max(1L, std::lround(side_um / count)));
  };
  return {columns, pitch(columns), pitch(rows)};
}

double bank_kib(const TileConfig& tile, const EnergyConfig& table) {
  return std::min<double>(table.sram_bank_kib, tile.sram_kib);
}

double sram_side_mm(const TileConfig& tile, const EnergyConfig& table) {
  return std::sqrt(tile_sram_mm2(tile, table));
}

}  // namespace tessera::energy
