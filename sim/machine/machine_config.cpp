#include "sim/machine/machine_config.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/config/fields.h"

namespace tessera {

using config::Fields;
using config::Range;

namespace {

constexpr Range<std::uint32_t> kSlotRange{1, 1000};
constexpr Range<std::uint32_t> kCycleRange{0, 1'000'000};
constexpr Range<std::uint32_t> kMacRange{0, 4096};
constexpr Range<std::uint32_t> kWidthRange{1, 1024};
/// Lanes that one stream may be cut into, and those of a tile's port: what schedules stay quick
/// with.
constexpr std::uint32_t kStreamLanes = 8;
constexpr std::uint32_t kPortLanes = 64;

}  // namespace

void describe(Fields& fields, SlotCosts& slots) {
  fields.field({"plain",
                "integer, branch, one memory access, f32 or f16 add, multiply, fused "
                "multiply-add",
                "slots"},
               slots.plain, kSlotRange);
  fields.field({"integer_multiply", "integer multiply", "slots"}, slots.integer_multiply,
               kSlotRange);
  fields.field({"integer_divide", "integer divide and remainder", "slots"}, slots.integer_divide,
               kSlotRange);
  fields.field({"float_divide", "f32 and f16 divide and square root", "slots"}, slots.float_divide,
               kSlotRange);
  fields.field({"activation", "exp2, log2, tanh, sigmoid, reciprocal square root", "slots"},
               slots.activation, kSlotRange);
  fields.field({"branch_taken_extra", "what a taken branch of a worker costs more", "slots"},
               slots.branch_taken_extra, {0, 1000});
}

void describe(Fields& fields, SupervisorCosts& costs) {
  fields.field({"plain_cycles", "an instruction of the supervisor", "cycles"}, costs.plain_cycles,
               {1, 1000});
  fields.field({"branch_taken_cycles", "a taken branch of the supervisor", "cycles"},
               costs.branch_taken_cycles, {1, 1000});
  fields.field({"load_use_stall_cycles",
                "extra when the next instruction reads the register just loaded", "cycles"},
               costs.load_use_stall_cycles, kCycleRange);
  fields.field({"launch_cycles", "starting workers (`run`)", "cycles"}, costs.launch_cycles,
               kCycleRange);
  fields.field({"launch_stagger_cycles",
                "between the starts of successive workers when one `run` starts all", "cycles"},
               costs.launch_stagger_cycles, kCycleRange);
  fields.field({"join_cycles", "waiting for workers that have ended (`join`)", "cycles"},
               costs.join_cycles, kCycleRange);
  fields.field({"weight_load_cycles", "starting a load of weights (`ldcw`), before the words move",
                "cycles"},
               costs.weight_load_cycles, kCycleRange);
}

void describe(Fields& fields, MatrixUnitConfig& unit) {
  fields.field({"f16_macs", "multiply-adds a slot, f16 with f16 partials (amp.h)"}, unit.f16_macs,
               kMacRange);
  fields.field({"f16_f32_macs", "multiply-adds a slot, f16 with f32 partials (amp.hs)"},
               unit.f16_f32_macs, kMacRange);
  fields.field({"f32_macs", "multiply-adds a slot, f32 (amp.s)"}, unit.f32_macs, kMacRange);
  fields.field({"i8_macs", "multiply-adds a slot, int8 (amp.b); 0: the unit has no int8"},
               unit.i8_macs, kMacRange);
  fields.field(
      {"weight_load_bytes_per_cycle", "how fast weights are loaded (ldcw)", "bytes a cycle"},
      unit.weight_load_bytes_per_cycle, kWidthRange);
}

void describe(Fields& fields, TileConfig& tile) {
  fields.field({"sram_kib", "SRAM of one tile", "KiB"}, tile.sram_kib, {1, 65536});
  fields.field({"contexts", "worker contexts"}, tile.contexts, {1, 64});
  fields.field({"issue",
                "how contexts share the pipeline: barrel gives each a slot in turn, "
                "single has one context with a slot every cycle"},
               tile.issue, {"barrel", "single"});
  fields.require(tile.issue == "barrel" || tile.contexts == 1, "contexts",
                 fmt::format("found {}, allowed 1 with issue single", tile.contexts));
  fields.field({"dual_issue",
                "an aligned pair of a memory, integer or branch and a floating-point "
                "instruction takes one slot"},
               tile.dual_issue);
  fields.field({"load_bytes_per_slot", "load width", "bytes"}, tile.load_bytes_per_slot,
               kWidthRange);
  fields.field({"store_bytes_per_slot", "store width", "bytes"}, tile.store_bytes_per_slot,
               kWidthRange);
  fields.field({"worker_stack_bytes", "stack of each worker context", "bytes"},
               tile.worker_stack_bytes, {0, 1U << 20});
  fields.field({"supervisor_stack_bytes", "stack of the supervisor", "bytes"},
               tile.supervisor_stack_bytes, {0, 1U << 20});
  fields.group({"matrix_unit", "the matrix unit"}, tile.matrix_unit);
  fields.group({"slots", "slots that a worker's instructions take"}, tile.slots);
  fields.group({"supervisor", "what the supervisor pays"}, tile.supervisor);
}

namespace {

void describe_rates(Fields& fields, FabricConfig& fabric, std::string_view unused_with) {
  fields.field(
      {"send_bytes_per_cycle",
       "what a tile sends; one that sends faster than others receive feeds several at once",
       "bytes a cycle", false, unused_with},
      fabric.send_bytes_per_cycle, kWidthRange);
  fields.field(
      {"receive_bytes_per_cycle",
       "what a tile receives; one that receives faster than others send listens to several "
       "at once",
       "bytes a cycle", false, unused_with},
      fabric.receive_bytes_per_cycle, kWidthRange);
  const auto [slower, faster] =
      std::minmax(fabric.send_bytes_per_cycle, fabric.receive_bytes_per_cycle);
  const std::uint32_t lane = std::gcd(slower, faster);
  fields.require(slower <= kStreamLanes * lane && faster <= kPortLanes * lane,
                 "receive_bytes_per_cycle",
                 fmt::format("found {} beside send_bytes_per_cycle {}, allowed at most {} times "
                             "what divides both for the slower and {} times for the faster",
                             fabric.receive_bytes_per_cycle, fabric.send_bytes_per_cycle,
                             kStreamLanes, kPortLanes));
  fields.field(
      {"pair_sharing", "an even pair of tiles that takes identical data receives at twice the rate",
       "", false, unused_with},
      fabric.pair_sharing);
  fields.field({"cycles_per_hop",
                "distance latency between neighbouring columns and between neighbouring rows",
                "cycles", false, unused_with},
               fabric.cycles_per_hop, kCycleRange);
}

/// The floor plan of a machine with fewer pairs of tiles than a preset's has fewer columns.
void fit_columns(Fields& fields, MachineConfig& machine) {
  const std::uint32_t pairs = (machine.tiles + 1) / 2;
  fields.require(machine.fabric.columns <= pairs || !fields.set_with("fabric.columns", "tiles"),
                 "fabric.columns",
                 fmt::format("found {}, allowed at most the {} pairs of {} tiles",
                             machine.fabric.columns, pairs, machine.tiles));
  machine.fabric.columns = std::min(machine.fabric.columns, pairs);
}

}  // namespace

void describe(Fields& fields, FabricConfig& fabric) {
  fields.field({"kind",
                "scheduled: all-to-all, non-blocking, scheduled when the program is built; "
                "ideal: every byte at once, without rates and distances"},
               fabric.kind, {"scheduled", "ideal"});
  describe_rates(fields, fabric, fabric.kind == "ideal" ? "kind" : "");
  fields.field({"fixed_cycles", "of every exchange", "cycles"}, fabric.fixed_cycles, kCycleRange);
  fields.field({"columns",
                "columns of the floor plan: the pair of tiles 2p and 2p + 1 stands in column p "
                "modulo columns, row p / columns"},
               fabric.columns, {1, 65536});
}

void describe(Fields& fields, SyncConfig& sync) {
  fields.field({"chip_cycles", "from a chip's last arrival at a barrier to the release", "cycles"},
               sync.chip_cycles, kCycleRange);
}

void describe(Fields& fields, HostLinkConfig& link) {
  fields.field({"gigabytes_per_second", "rate of the link to the host", "GB/s"},
               link.gigabytes_per_second, {1e-3, 1e6});
}

void describe(Fields& fields, MachineConfig& machine) {
  fields.field({"name", "what reports call the machine"}, machine.name);
  fields.field({"tiles", "compute tiles"}, machine.tiles, {1, 1U << 20});
  fields.field({"clock_ghz", "tile clock", "GHz"}, machine.clock_ghz, {1e-3, 1e3});
  fields.group({"tile", "one core with its SRAM"}, machine.tile);
  fields.group({"fabric", "what moves bytes between tiles"}, machine.fabric);
  fit_columns(fields, machine);
  fields.group({"sync", "barriers"}, machine.sync);
  fields.group({"host", "the link to the host"}, machine.host);
  fields.optional_group({"energy", "joules and mm2 of its parts; none or null: not reported"},
                        machine.has_energy, machine.energy);
}

}  // namespace tessera
