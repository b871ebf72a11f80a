#include "sim/sweep/tables.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/machine/nodes.h"
#include "sim/program/flow.h"
#include "sim/program/liveness.h"
#include "sim/report/report.h"
#include "sim/report/stalls.h"
#include "sim/report/time_bound.h"

namespace tessera::report {

namespace {

/// Number of tiles that the program uses, by zone: the others end at once and count in no mean.
std::map<std::uint32_t, std::uint32_t> tiles_at_work(const program::Images& images) {
  std::map<std::uint32_t, std::uint32_t> tiles;
  for (std::size_t tile = 0; tile < images.tiles.size(); ++tile) {
    const auto& code = images.tiles[tile].code;
    if (code == nullptr || !code->idle) ++tiles[images.zone_of.empty() ? 0 : images.zone_of[tile]];
  }
  return tiles;
}

constexpr std::uint32_t kMostGroups = 128;

struct Range {
  std::string name;
  std::string_view category;
  std::uint64_t address, bytes;
  program::Lifetime life;
  std::uint32_t buffers = 1;

  /// True if `next` follows directly, apart from padding, and has the same name, category and life.
  [[nodiscard]] bool goes_on_with(const Range& next) const {
    constexpr std::uint64_t kPadding = 16;
    return name == next.name && category == next.category && life == next.life &&
           next.address >= address + bytes && next.address < address + bytes + kPadding;
  }
};

std::vector<Range> ranges_of(const program::Program& program, const program::Images& images,
                             TileId tile) {
  const program::Flow flow = program::flatten(program);
  const program::Lifetime always{-1, static_cast<std::int32_t>(flow.steps.size())};
  const program::TileImage& image = images.tiles[index(tile)];
  std::vector<Range> ranges;
  if (image.code != nullptr && !image.code->bytes.empty())
    ranges.push_back({"code", "code", 0, image.code->bytes.size(), always});
  for (std::size_t i = 0; i < image.segments.size(); ++i) {
    // compile() places a tile's arguments first, and its descriptor lists after its buffers.
    const bool lists = i > 0;
    ranges.push_back(
        {lists ? "descriptor lists" : "arguments",
         program::category_name(lists ? program::Category::exchange : program::Category::arguments),
         image.segments[i].address.count(), image.segments[i].bytes.size(), always});
  }
  const std::vector<program::Lifetime> lives = program::lifetimes(program, flow);
  for (std::size_t id = 0; id < lives.size(); ++id) {
    const program::Buffer& buffer = program.buffers()[id];
    if (buffer.tile != tile || !lives[id].used()) continue;
    ranges.push_back({std::string(buffer.name), program::category_name(buffer.category),
                      images.buffer_address[id].count(), buffer.bytes, lives[id]});
  }
  return ranges;
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
  std::map<std::uint32_t, std::uint32_t> tiles = tiles_at_work(images);
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    const SuperstepRecord& step = result.steps[i];
    const bool known = step.program_step < images.steps.size();
    const program::StepInfo& info = known ? images.steps[step.program_step] : none;
    const Exchanges exchanges = exchanges_of(step, images);
    const TimeParts& time = step.time;
    const auto mean = [own = std::max(tiles[step.zone], 1U)](std::uint64_t sum) {
      return static_cast<double>(sum) / own;
    };
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
    // null stands for infinities and NaN.
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

std::string traffic_csv(const program::Program& program, const RunResult& result) {
  const program::Flow flow = program::flatten(program);
  const std::uint32_t tiles = ceil_div(program.tiles(), kMostGroups);  // tiles per group
  const std::uint32_t groups = ceil_div(program.tiles(), tiles);
  std::vector<std::uint64_t> bytes(std::size_t{groups} * groups);
  const auto group = [&](program::Place place) {
    return index(program.buffer(place.buffer).tile) / tiles;
  };
  std::vector<std::uint64_t> done(flow.exchanges.size());
  for (const SuperstepRecord& step : result.steps)
    for (const std::uint32_t number : step.exchanges) ++done.at(number);
  for (std::size_t number = 0; number < done.size(); ++number) {
    for (const program::Stream& stream : flow.exchanges[number]->streams) {
      const std::size_t row = std::size_t{group(stream.source.place)} * groups;
      for (const program::Walk& to : stream.destinations)
        bytes[row + group(to.place)] += done[number] * program::stream_bytes(to.unit, to.extents);
    }
    for (const program::Copy& copy : flow.exchanges[number]->copies) {
      const std::size_t row = std::size_t{group(copy.source)} * groups;
      for (const program::Place to : copy.destinations) {
        bytes[row + group(to)] += done[number] * copy.bytes;
      }
    }
  }
  std::string text = "from_tile,to_tile,tiles,bytes\n";
  for (std::uint32_t from = 0; from < groups; ++from) {
    for (std::uint32_t to = 0; to < groups; ++to) {
      const std::uint64_t moved = bytes[std::size_t{from} * groups + to];
      if (moved > 0) text += fmt::format("{},{},{},{}\n", from * tiles, to * tiles, tiles, moved);
    }
  }
  return text;
}

std::string buffers_csv(const MachineConfig& machine, const program::Program& program,
                        const program::Images& images) {
  const TileId tile = program::fullest_tile(images, machine);
  std::vector<Range> ranges = ranges_of(program, images, tile);
  std::ranges::stable_sort(ranges, [](const Range& a, const Range& b) {
    return std::tie(a.life, a.name, a.address) < std::tie(b.life, b.name, b.address);
  });
  std::vector<Range> joined;
  for (Range& range : ranges) {
    if (joined.empty() || !joined.back().goes_on_with(range)) {
      joined.push_back(std::move(range));
      continue;
    }
    joined.back().bytes = range.address + range.bytes - joined.back().address;
    ++joined.back().buffers;
  }
  std::ranges::stable_sort(joined, {}, &Range::address);
  std::string text = "tile,name,category,buffers,address,bytes,first_step,last_step\n";
  for (const Range& range : joined)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", index(tile), sweep::csv_cell(range.name),
                        range.category, range.buffers, range.address, range.bytes, range.life.first,
                        range.life.last);
  return text;
}

}  // namespace tessera::report
