#include "sim/sweep/tables.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/machine/nodes.h"
#include "sim/report/report.h"
#include "sim/report/stalls.h"
#include "sim/report/time_bound.h"

namespace tessera::report {
namespace {

/// Tiles that the program names: the others end at once and count in no mean.
std::uint32_t tiles_at_work(const program::Images& images) {
  const auto idle = [](const program::TileImage& tile) {
    return tile.code != nullptr && tile.code->idle;
  };
  const auto idle_tiles = static_cast<std::size_t>(std::ranges::count_if(images.tiles, idle));
  return static_cast<std::uint32_t>(images.tiles.size() - idle_tiles);
}

}  // namespace

std::string steps_csv(const program::Images& images, const RunResult& result) {
  std::string text =
      "superstep,name,kind,start_cycle,cycles,compute_cycles,exchange_cycles,sync_cycles,"
      "link_cycles,host_cycles,wait_cycles,last_tile,least_compute_cycles,mean_compute_cycles,"
      "exchange_bytes,exchange_makespan_cycles,exchange_bound_cycles,instructions,flops,"
      "live_bytes,most_compute_cycles,program_step,port_wait_cycles,mean_overlapped_cycles,zone,"
      "external_read_bytes,external_written_bytes,external_cycles\n";
  const program::StepInfo none;
  const std::uint32_t tiles = tiles_at_work(images);
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    const SuperstepRecord& step = result.steps[i];
    const bool known = step.program_step < images.steps.size();
    const program::StepInfo& info = known ? images.steps[step.program_step] : none;
    const Exchanges exchanges = exchanges_of(step, images);
    const TimeParts& time = step.time;
    const auto mean = [tiles](std::uint64_t sum) { return static_cast<double>(sum) / tiles; };
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{:.1f},{},{},{},{},{},{},{},{},{},{:.1f},{},{},{},{"
        "}\n",
        i, sweep::csv_cell(info.name), info.kind, step.start.count(), time.total().count(),
        time.compute.count(), time.exchange.count(), time.sync.count(), time.link.count(),
        time.host.count(), time.wait.count(), index(step.last_tile), step.least_compute.count(),
        mean(step.sum_compute), step.exchanged.count(), exchanges.makespan.count(),
        exchanges.bound.count(), step.instructions, step.flops, info.live_bytes,
        step.most_compute.count(), step.program_step, time.port_wait.count(),
        mean(step.overlapped.count()), step.zone, step.external_read.count(),
        step.external_written.count(), time.external.count());
  }
  return text;
}

std::string loss_csv(const nlohmann::ordered_json& results) {
  if (!results.contains("loss") || results["loss"].empty()) return {};
  const std::size_t steps = results["loss"].size();
  std::string csv = "step";
  std::vector<const nlohmann::ordered_json*> columns;
  for (const auto& [name, values] : results.items()) {
    const bool of_steps = values.is_array() && values.size() == steps;
    if (!of_steps || values[0].is_structured() || values[0].is_string()) continue;
    csv += "," + name;
    columns.push_back(&values);
  }
  csv += '\n';
  for (std::size_t i = 0; i < steps; ++i) {
    csv += fmt::format("{}", i + 1);
    // JSON has null for infinities and NaN.
    for (const auto* values : columns)
      csv += (*values)[i].is_number() ? fmt::format(",{}", (*values)[i].get<double>()) : ",nan";
    csv += '\n';
  }
  return csv;
}

std::string tiles_csv(const program::Images& images, const RunResult& result,
                      const MachineConfig& machine) {
  std::string text =
      "tile,compute_cycles,exchange_cycles,sync_cycles,instructions,flops,sent_bytes,"
      "received_bytes";
  for (std::size_t i = 0; i < program::kCategories; ++i) {
    text += fmt::format(",{}_bytes", program::category_name(static_cast<program::Category>(i)));
  }
  if (!result.stalls.empty())
    for (const std::string_view name : kStallNames) text += fmt::format(",{}_context_cycles", name);
  text += ",external_bytes";
  if (result.energy) text += ",microjoules";
  if (!machine.nodes.empty()) text += ",class";
  text += "\n";
  for (std::uint32_t i = 0; i < result.tiles.size(); ++i) {
    const TileRecord& tile = result.tiles[i];
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{}", i, tile.compute.count(), tile.exchange.count(),
                    tile.sync.count(), tile.instructions, tile.flops, tile.sent.count(),
                    tile.received.count(), fmt::join(images.tiles[i].memory, ","));
    if (!result.stalls.empty())
      text += fmt::format(",{}",
                          fmt::join(stalls_of_tile(result, i, tile_of(machine, i).contexts), ","));
    text += fmt::format(",{}", tile.external.count());
    constexpr double kMicro = 1e6;
    if (result.energy) text += fmt::format(",{:.6f}", kMicro * result.energy->tile_joules[i]);
    if (!machine.nodes.empty()) {
      const NodeConfig* const its = class_of(machine, i);
      text += "," + sweep::csv_cell(its == nullptr ? "tile" : its->name);
    }
    text += "\n";
  }
  return text;
}

}  // namespace tessera::report
