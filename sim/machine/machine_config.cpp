#include "sim/machine/machine_config.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/config/fields.h"
#include "sim/machine/nodes.h"

namespace tessera {

using config::Fields;
using config::Range;

namespace {

constexpr Range<std::uint32_t> kSlotRange{1, 1000};
constexpr Range<std::uint32_t> kSoftwareRange{1, 4000};  // slots of a software routine
constexpr Range<std::uint32_t> kCycleRange{0, 1'000'000};
constexpr Range<std::uint32_t> kWidthRange{1, 1024};

}  // namespace

void describe(Fields& fields, SlotCosts& slots) {
  fields.field({"plain", "any instruction without a key of its own", "slots"}, slots.plain,
               kSlotRange);
  const auto routine = [&](std::string_view key, std::string_view sentence, std::uint32_t& value) {
    fields.field({key, sentence, "slots"}, value, kSoftwareRange);
  };
  routine("integer_multiply", "integer multiply", slots.integer_multiply);
  routine("integer_divide", "integer divide and remainder", slots.integer_divide);
  routine("float_add", "f32 or f16 add of float_lanes lanes", slots.float_add);
  routine("float_multiply", "f32 or f16 multiply of float_lanes lanes", slots.float_multiply);
  routine("float_fma", "f32 or f16 fused multiply-add of float_lanes lanes", slots.float_fma);
  fields.field({"float_lanes",
                "lanes of packed floating-point arithmetic computed per slot count above; each "
                "further group takes the same slots again",
                "lanes"},
               slots.float_lanes, {1, 4});
  routine("float_divide", "f32 and f16 divide and square root", slots.float_divide);
  routine("activation", "exp2, log2, tanh, sigmoid, reciprocal square root", slots.activation);
}

void describe(Fields& fields, LatencyConfig& latency) {
  const auto cycles = [&](std::string_view key, std::string_view sentence, std::uint32_t& value) {
    fields.field({key, sentence, "cycles"}, value, kSlotRange);
  };
  cycles("load", "from a load to the first use of the loaded value", latency.load);
  cycles("integer",
         "from an integer instruction, or from the address update of a post-increment access",
         latency.integer);
  cycles("integer_multiply", "from an integer multiply", latency.integer_multiply);
  cycles("integer_divide", "from an integer divide or remainder", latency.integer_divide);
  cycles("f32_add", "from an f32 add", latency.f32_add);
  cycles("f32_multiply", "from an f32 multiply", latency.f32_multiply);
  cycles("f32_fma", "from an f32 fused multiply-add", latency.f32_fma);
  cycles("f16_add", "from an f16 add", latency.f16_add);
  cycles("f16_multiply", "from an f16 multiply", latency.f16_multiply);
  cycles("f16_fma", "from an f16 fused multiply-add", latency.f16_fma);
  cycles("float_move", "from a floating-point move, comparison, conversion or lane shuffle",
         latency.float_move);
  cycles("float_divide", "from a floating-point divide", latency.float_divide);
  cycles("square_root", "from a square root", latency.square_root);
  cycles("activation", "from exp2, log2, tanh, sigmoid or reciprocal square root",
         latency.activation);
  cycles("matrix", "from a matrix-unit instruction to the first use of its result", latency.matrix);
  cycles("branch_taken", "from a taken branch to its target instruction", latency.branch_taken);
}

void describe(Fields& fields, IntervalConfig& interval) {
  const auto cycles = [&](std::string_view key, std::string_view sentence, std::uint32_t& value) {
    fields.field({key, sentence, "cycles (barrel: slots of the context)"}, value, kSlotRange);
  };
  cycles("integer_multiply", "between integer multiplies", interval.integer_multiply);
  cycles("integer_divide", "between integer divides", interval.integer_divide);
  cycles("floating", "between floating-point adds, multiplies and fused multiply-adds",
         interval.floating);
  cycles("float_divide", "between floating-point divides and square roots", interval.float_divide);
  cycles("activation", "between activations", interval.activation);
}

void describe(Fields& fields, SupervisorCosts& costs) {
  fields.field({"plain_cycles", "cycles per supervisor instruction", "cycles"}, costs.plain_cycles,
               {1, 1000});
  fields.field({"branch_taken_cycles", "cycles per taken supervisor branch", "cycles"},
               costs.branch_taken_cycles, {1, 1000});
  fields.field({"load_use_stall_cycles",
                "extra cycles if the next instruction reads the register just loaded", "cycles"},
               costs.load_use_stall_cycles, kCycleRange);
  fields.field({"launch_cycles", "cost of starting workers (`run`)", "cycles"}, costs.launch_cycles,
               kCycleRange);
  fields.field({"launch_stagger_cycles",
                "between the starts of successive workers if one `run` starts all", "cycles"},
               costs.launch_stagger_cycles, kCycleRange);
  fields.field({"join_cycles", "cost of `join` if the workers have already ended", "cycles"},
               costs.join_cycles, kCycleRange);
  fields.field({"weight_load_cycles",
                "cost of starting a weight load (`ldcw`), before its words move", "cycles"},
               costs.weight_load_cycles, kCycleRange);
}

namespace {

constexpr config::Names<IssueKind, 4> kIssueKinds{{{"barrel", IssueKind::barrel},
                                                   {"revolver", IssueKind::revolver},
                                                   {"interleaved", IssueKind::interleaved},
                                                   {"single", IssueKind::single}}};

void describe_issue(Fields& fields, TileConfig& tile) {
  fields.field({"issue",
                "how contexts share the pipeline: barrel: fixed rotation, one slot each; revolver: "
                "a context may issue again after reissue_cycles, ready contexts take turns; "
                "interleaved: the context that has been ready longest issues; single: one context"},
               tile.issue, kIssueKinds);
  fields.require(tile.issue != IssueKind::single || tile.contexts <= 1, "contexts",
                 "found {}, allowed 1 with issue single", tile.contexts);
  fields.field({"reissue_cycles",
                "revolver: minimum cycles between two issues of one context; must be 0 for other "
                "kinds. A smaller value can be slower: turns may leave a unit with an initiation "
                "interval idle (models/tile/README.md)",
                "cycles"},
               tile.reissue_cycles, {0, 1000});
  const bool revolver = tile.issue == IssueKind::revolver;
  fields.require(revolver == (tile.reissue_cycles > 0), "reissue_cycles",
                 "found {}, allowed {} with issue {}", tile.reissue_cycles,
                 revolver ? "1 to 1000" : "0", config::name_of(kIssueKinds, tile.issue));
}

/// The supervisor's own costs need its own issue port, which only `barrel` has.
void require_own_port(Fields& fields, const TileConfig& tile) {
  const SupervisorCosts usual;
  const SupervisorCosts& costs = tile.supervisor;
  const bool own = tile.issue == IssueKind::barrel;
  const auto require = [&](const char* key, std::uint32_t found, std::uint32_t allowed) {
    fields.require(own || found == allowed, key,
                   "found {}, allowed {} (which is not used) with issue {}, where the "
                   "supervisor's instructions cost what a worker's do",
                   found, allowed, config::name_of(kIssueKinds, tile.issue));
  };
  require("supervisor.plain_cycles", costs.plain_cycles, usual.plain_cycles);
  require("supervisor.branch_taken_cycles", costs.branch_taken_cycles, usual.branch_taken_cycles);
  require("supervisor.load_use_stall_cycles", costs.load_use_stall_cycles,
          usual.load_use_stall_cycles);
}

}  // namespace

void describe(Fields& fields, TileConfig& tile) { describe_tile(fields, tile, 1); }

void describe_tile(Fields& fields, TileConfig& tile, std::uint32_t least_contexts) {
  fields.field({"sram_kib", "SRAM of one tile", "KiB"}, tile.sram_kib, {1, 1U << 20});
  fields.field({"program_kib",
                "memory for code, control, arguments and descriptor lists, separate from the SRAM; "
                "0: they share the SRAM",
                "KiB"},
               tile.program_kib, {0, 65536});
  fields.field({"contexts",
                "worker contexts; on revolver and interleaved tiles a program uses the number that "
                "is predicted to be fastest"},
               tile.contexts, {least_contexts, 64});
  describe_issue(fields, tile);
  // Without workers only the supervisor runs; on a barrel it has a port and costs of its own.
  const std::string_view workers = tile.contexts == 0 ? "contexts" : "";
  const std::string_view pipeline = tile.issue == IssueKind::barrel ? workers : "";
  fields.field(
      {"dual_issue",
       "an aligned pair of one memory, integer or branch instruction and one floating-point "
       "instruction issues in one slot if the second is ready with the first, else in two",
       "", false, pipeline},
      tile.dual_issue);
  fields.field({"load_bytes_per_slot", "load width", "bytes", false, pipeline},
               tile.load_bytes_per_slot, kWidthRange);
  fields.field({"store_bytes_per_slot", "store width", "bytes", false, pipeline},
               tile.store_bytes_per_slot, kWidthRange);
  fields.field({"worker_stack_bytes", "stack of each worker context", "bytes", false, workers},
               tile.worker_stack_bytes, {0, 1U << 20});
  fields.field({"supervisor_stack_bytes", "stack of the supervisor", "bytes"},
               tile.supervisor_stack_bytes, {0, 1U << 20});
  fields.field({"overlap",
                "exchanges, external-memory transfers and host transfers overlap with the tile's "
                "code; false: the supervisor waits at their start until they end"},
               tile.overlap);
  fields.group({"matrix_unit", "the matrix unit", "", false, workers}, tile.matrix_unit);
  fields.group({"slots", "issue slots per worker instruction", "", false, pipeline}, tile.slots);
  fields.group(
      {"latency",
       "cycles from an instruction to the first use of its result; not part of the area model", "",
       false, pipeline},
      tile.latency);
  fields.group({"interval", "initiation intervals of execution units", "", false, pipeline},
               tile.interval);
  fields.group({"supervisor", "costs of the supervisor"}, tile.supervisor);
  require_own_port(fields, tile);
}

namespace {

void describe_rates(Fields& fields, FabricConfig& fabric, std::string_view unused_with) {
  fields.field({"send_bytes_per_cycle",
                "exchange bandwidth of a tile's output; if above the receive rate, a tile feeds "
                "several receivers at once",
                "bytes a cycle", false, unused_with},
               fabric.send_bytes_per_cycle, kWidthRange);
  fields.field({"receive_bytes_per_cycle",
                "exchange bandwidth of a tile's input; if above the send rate, a tile receives "
                "from several senders at once",
                "bytes a cycle", false, unused_with},
               fabric.receive_bytes_per_cycle, kWidthRange);
  fields.field({"pair_sharing", "tiles 2p and 2p + 1 receive identical data at twice the rate", "",
                false, unused_with},
               fabric.pair_sharing);
  fields.field({"cycles_per_hop",
                "latency per hop between neighbouring columns and between neighbouring rows",
                "cycles", false, unused_with},
               fabric.cycles_per_hop, kCycleRange);
}

constexpr config::Names<StreamConfig::Along, 3> kAlong{{{"any", StreamConfig::Along::any},
                                                        {"column", StreamConfig::Along::column},
                                                        {"row", StreamConfig::Along::row}}};

/// Fits the floor plan's columns, usually a preset's, to a machine with fewer pairs of tiles.
void fit_columns(Fields& fields, MachineConfig& machine) {
  if (machine.fabric.kind == "streams")
    return fields.require(machine.tiles % machine.fabric.columns == 0, "fabric.columns",
                          "found {}, allowed divisors of the {} tiles, which stand in "
                          "whole rows",
                          machine.fabric.columns, machine.tiles);
  const std::uint32_t pairs = (machine.tiles + 1) / 2;
  fields.require(machine.fabric.columns <= pairs || !fields.set_with("fabric.columns", "tiles"),
                 "fabric.columns", "found {}, allowed at most the {} pairs of {} tiles",
                 machine.fabric.columns, pairs, machine.tiles);
  machine.fabric.columns = std::min(machine.fabric.columns, pairs);
}

}  // namespace

void describe(Fields& fields, StreamConfig& stream) {
  fields.field({"name", "name of these streams in programs and messages", "", true}, stream.name);
  fields.field({"from", "sending class of nodes: tile, or a name of machine.nodes"}, stream.from);
  fields.field({"to", "receiving class of nodes"}, stream.to);
  fields.field(
      {"along",
       "reachable nodes: column or row: those in the same column or row; any: all of the class"},
      stream.along, kAlong);
  fields.field({"bytes_per_cycle", "rate of one stream, exact to nine decimals", "bytes a cycle"},
               stream.bytes_per_cycle, {1e-3, 4096});
  fields.field({"send_ports", "concurrent streams that a node can send; 0: unlimited"},
               stream.send_ports, {0, 1024});
  fields.field({"receive_ports", "concurrent streams that a node can receive; 0: unlimited"},
               stream.receive_ports, {0, 1024});
}

void describe(Fields& fields, FabricConfig& fabric) {
  fields.field({"kind",
                "scheduled: all-to-all, non-blocking, scheduled when the program is built; ideal: "
                "unlimited rates, no distances; streams: each node's DMA sends and receives "
                "streams between classes of nodes"},
               fabric.kind, {"scheduled", "ideal", "streams"});
  const bool streams = fabric.kind == "streams";
  describe_rates(fields, fabric, fabric.kind == "scheduled" ? "" : "kind");
  fields.field(
      {"fixed_cycles",
       "fixed cost of every exchange; for streams: from the last byte of a stream to its end",
       "cycles"},
      fabric.fixed_cycles, kCycleRange);
  fields.field(
      {"columns",
       "columns of the floor plan: the pair of tiles 2p and 2p + 1 stands in column p modulo "
       "columns, row p / columns; in a streams fabric each tile stands alone instead of a pair"},
      fabric.columns, {1, 65536});
  fields.list(
      {"streams", "permitted streams between classes of nodes", "", false, streams ? "" : "kind"},
      fabric.streams);
}

void describe(Fields& fields, SyncConfig& sync) {
  fields.field(
      {"chip_cycles", "from the last arrival at a barrier of a chip to its release", "cycles"},
      sync.chip_cycles, kCycleRange);
}

void describe(Fields& fields, HostLinkConfig& link) {
  fields.field({"launch_us",
                "launch cost of a run: before its program begins, and from its end until the host "
                "is notified; counts if run.measure is host",
                "us"},
               link.launch_us, {0, 1e6});
  fields.field(
      {"latency_us",
       "latency of each transfer before its first byte: host notification, set-up and start", "us"},
      link.latency_us, {0, 1e6});
  fields.field({"gigabytes_per_second", "rate of the link to the host", "GB/s"},
               link.gigabytes_per_second, {1e-3, 1e6});
}

std::uint64_t stream_cycles(const StreamConfig& stream, std::uint64_t bytes) {
  constexpr double kNano = 1e9;  // rates are counted to nine decimals
  return ceil_div(bytes * static_cast<std::uint64_t>(kNano),
                  static_cast<std::uint64_t>(std::llround(stream.bytes_per_cycle * kNano)));
}

Cycle launch_cycles(const MachineConfig& machine) {
  constexpr double kNanosecondsAMicrosecond = 1e3;
  return Cycle(static_cast<std::uint64_t>(
      std::ceil(machine.host.launch_us * kNanosecondsAMicrosecond * machine.clock_ghz)));
}

Cycle host_transfer_cycles(const MachineConfig& machine, Bytes bytes, std::uint32_t transfers) {
  constexpr double kNanosecondsAMicrosecond = 1e3;
  const double nanoseconds = transfers * machine.host.latency_us * kNanosecondsAMicrosecond +
                             static_cast<double>(bytes.count()) / machine.host.gigabytes_per_second;
  return Cycle(static_cast<std::uint64_t>(std::ceil(nanoseconds * machine.clock_ghz)));
}

/// Requires prices of matrix unit types that few machines have: if the type exists, and only then.
void require_priced(Fields& fields, const MachineConfig& machine) {
  if (!machine.has_energy) return;
  const EnergyConfig& energy = machine.energy;
  const auto require = [&](MatrixShape MatrixUnitConfig::*shape, double picojoules, double um2,
                           std::string_view type) {
    const bool exists = (machine.tile.matrix_unit.*shape).exists() ||
                        std::ranges::any_of(machine.nodes, [&](const NodeConfig& node) {
                          return (node.tile.matrix_unit.*shape).exists();
                        });
    const auto price = [&](const std::string& key, double found) {
      fields.require(!exists || found > 0, key,
                     "found {}, allowed more than 0 with machine.tile.matrix_unit.{}", found, type);
      fields.require(exists || found == 0, key,
                     "found {}, allowed 0 (which is not used) without "
                     "machine.tile.matrix_unit.{}",
                     found, type);
    };
    price(fmt::format("energy.matrix_{}_pj", type), picojoules);
    price(fmt::format("energy.area.{}_mac_um2", type), um2);
  };
  require(&MatrixUnitConfig::i16, energy.matrix_i16_pj, energy.area.i16_mac_um2, "i16");
  require(&MatrixUnitConfig::bf16, energy.matrix_bf16_pj, energy.area.bf16_mac_um2, "bf16");
}

void describe(Fields& fields, MachineConfig& machine) {
  fields.field({"name", "name of the machine in reports"}, machine.name);
  fields.field({"tiles", "compute tiles"}, machine.tiles, {1, 1U << 20});
  fields.field({"clock_ghz", "tile clock", "GHz"}, machine.clock_ghz, {1e-3, 1e3});
  fields.group({"tile", "one core with its SRAM"}, machine.tile);
  fields.group({"fabric", "the network that moves bytes between tiles"}, machine.fabric);
  fit_columns(fields, machine);
  describe_nodes(fields, machine);
  require_streams(fields, machine);
  fields.group({"sync", "barriers"}, machine.sync);
  fields.group({"host", "the link to the host"}, machine.host);
  fields.optional_group(
      {"external", "external memory, accessed by the tiles' DMA; not given or null: none"},
      machine.has_external, machine.external);
  fields.optional_group({"energy", "energy and area of its parts; not given or null: not reported"},
                        machine.has_energy, machine.energy);
  require_priced(fields, machine);
  const bool all_share =
      shares_pipeline(machine.tile) && std::ranges::all_of(machine.nodes, [](const auto& node) {
        return node.tile.contexts == 0 || shares_pipeline(node.tile);
      });
  fields.require(!workers_start_transfers(machine) || all_share, "external.worker_dma",
                 "found with workers whose issue is barrel or single, allowed with revolver or "
                 "interleaved: under the others a worker runs to its end by itself");
  fields.require(!machine.has_energy ||
                     machine.has_external == machine.energy.external_pj_per_byte.has_value(),
                 "energy.external_pj_per_byte",
                 machine.has_external
                     ? "found none, needed with machine.external (or set machine.energy to null)"
                     : "found a number, allowed none without machine.external");
  fields.require(
      !machine.has_energy || machine.has_external || machine.energy.external_activate_pj == 0,
      "energy.external_activate_pj",
      "found {}, allowed 0 (which is not used) without machine.external",
      machine.energy.external_activate_pj);
  fields.require(!machine.has_energy || !machine.has_external || machine.external.has_channels() ||
                     machine.energy.external_activate_pj == 0,
                 "energy.external_activate_pj",
                 "found {}, allowed 0 where machine.external.model is platform: nobody "
                 "knows the rows of that memory",
                 machine.energy.external_activate_pj);
  if (machine.has_energy && !machine.energy.reaches(machine.clock_ghz)) {
    fields.require(false, "clock_ghz",
                   "found {}, allowed {} to {} GHz, where machine.energy.voltage has "
                   "points",
                   machine.clock_ghz, machine.energy.voltage.front().ghz,
                   machine.energy.voltage.back().ghz);
  }
}

}  // namespace tessera
