#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/report/peak.h"
#include "sim/report/report.h"
#include "sim/report/units.h"

namespace tessera::report {
namespace {

std::string issue_of(const TileConfig& tile) {
  switch (tile.issue) {
    case IssueKind::barrel:
      return "barrel";
    case IssueKind::revolver:
      return "revolver";
    case IssueKind::interleaved:
      return "interleaved";
    case IssueKind::single:
      break;
  }
  return "single";
}

std::string peaks_of(const MachineConfig& machine) {
  std::string text;
  for (const char* type : {"f16", "f16_f32", "f32"})
    text += fmt::format("{} {}, ", type, scaled(peak_of(machine, type).per_second, "FLOP/s"));
  const MatrixUnitConfig& unit = machine.tile.matrix_unit;
  const auto vectors = [&](const char* type, const MatrixShape& shape, const char* of) {
    if (shape.exists())
      text += fmt::format("{} {}, ", type, scaled(peak_of(machine, type).per_second, of));
  };
  vectors("i8", unit.i8, "OP/s");
  vectors("i16", unit.i16, "OP/s");
  vectors("bf16", unit.bf16, "FLOP/s");
  return text + "local memory " + scaled(peak_of(machine, "bytes").per_second, "B/s");
}

std::string nodes_of(const MachineConfig& machine) {
  std::string text;
  for (const NodeConfig& node : machine.nodes)
    text += fmt::format(
        "  nodes     {} of class {}: {} KiB of SRAM, {}\n", node.count, node.name,
        node.tile.sram_kib,
        node.tile.contexts == 0 ? "no workers" : counted(node.tile.contexts, "context"));
  return text;
}

std::string fabric_of(const FabricConfig& fabric) {
  if (fabric.kind != "streams")
    return fmt::format(
        "  fabric    {}, {} bytes sent and {} received a cycle by a tile, exchanges "
        "take {} besides\n",
        fabric.kind, fabric.send_bytes_per_cycle, fabric.receive_bytes_per_cycle,
        counted(fabric.fixed_cycles, "cycle"));
  std::string text;
  for (const StreamConfig& stream : fabric.streams)
    text +=
        fmt::format("  {:<9} {} of {} bytes a cycle from {} to {}\n", text.empty() ? "fabric" : "",
                    stream.name, stream.bytes_per_cycle, stream.from, stream.to);
  return text;
}

std::string external_of(const MachineConfig& machine) {
  if (!machine.has_external) return "none";
  const ExternalConfig& external = machine.external;
  const std::string each = external.reach == ExternalReach::tile ? ", for each tile" : "";
  if (!external.has_channels())
    return fmt::format("{} MiB of the SystemC platform{}", external.mib_per_channel, each);
  return fmt::format("{}, {} MiB and {} each{}", counted(external.channels, "DRAM channel"),
                     external.mib_per_channel,
                     scaled(external.dram.bytes_per_clock * external.dram.clock_ghz * 1e9, "B/s"),
                     each);
}

}  // namespace

std::string machine_summary(const MachineConfig& machine, const std::string& file) {
  const TileConfig& tile = machine.tile;
  const FabricConfig& fabric = machine.fabric;
  const double mib = static_cast<double>(tile.sram_kib) * machine.tiles / 1024;
  const std::string in_all =
      mib < 1024 ? fmt::format("{:.4g} MiB", mib) : fmt::format("{:.4g} GiB", mib / 1024);
  return fmt::format("{}{}: {}, {} GHz\n", machine.name.empty() ? "" : machine.name + ", ", file,
                     counted(machine.tiles, "tile"), machine.clock_ghz) +
         fmt::format("  tile      {} KiB of SRAM ({} in all), {}, issue {}\n", tile.sram_kib,
                     in_all, counted(tile.contexts, "context"), issue_of(tile)) +
         nodes_of(machine) + fmt::format("  peak      {}\n", peaks_of(machine)) +
         fabric_of(fabric) +
         fmt::format("  sync      {}\n", counted(machine.sync.chip_cycles, "cycle")) +
         fmt::format("  host      {} GB/s, {} us\n", machine.host.gigabytes_per_second,
                     machine.host.latency_us) +
         fmt::format("  external  {}\n", external_of(machine)) +
         fmt::format("  energy    {}\n",
                     machine.has_energy ? "a table for " + machine.energy.node : "no table");
}

}  // namespace tessera::report
