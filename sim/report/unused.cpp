#include "sim/report/unused.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/key_path.h"
#include "sim/engine/result_costs.h"
#include "sim/isa/mnemonic.h"
#include "sim/machine/nodes.h"
#include "sim/program/flow.h"
#include "sim/report/executed.h"
#include "sim/report/stages.h"
#include "sim/report/time_bound.h"

namespace tessera::report {

using Json = nlohmann::ordered_json;

namespace {

using isa::Activity;
using isa::Mnemonic;

/// Collects unused keys with reasons.
class Unused {
 public:
  explicit Unused(const Json& config) : config_(config) {}
  void add(bool used, const std::string& key, std::string_view why) {
    if (!used) list_.push_back({{"key", config::named(config_, "machine." + key)}, {"why", why}});
  }
  Json take() { return std::move(list_); }

 private:
  const Json& config_;  ///< resolved
  Json list_ = Json::array();
};

/// Adds instruction costs of nodes whose keys are below `tile`.
void add_instructions(const Executed& executed, const std::string& tile, Unused& unused) {
  std::map<std::string, bool> keys = {
      {"load_bytes_per_slot", executed.some(Activity::bytes_loaded)},
      {"store_bytes_per_slot", executed.some(Activity::bytes_stored)},
      {"dual_issue", executed.some(Activity::floating)},
      {"slots.float_lanes", executed.some(Mnemonic::add_2w)}};
  for (const engine::ResultCosts& costs : engine::result_costs()) {
    const bool used = executed.some(costs.result);
    const auto note = [&](const char* group, const auto& key) {
      if (key.name != nullptr) keys[fmt::format("{}.{}", group, key.name)] |= used;
    };
    note("latency", costs.latency);
    note("slots", costs.slots);
    note("interval", costs.interval);
    keys["slots.float_lanes"] |= used && costs.interval.number == &IntervalConfig::floating;
  }
  // Every supervisor uses these keys, and its instructions are not counted.
  for (const char* key : {"latency.integer", "slots.plain"}) keys.erase(key);
  for (const auto& [key, used] : keys)
    unused.add(used, fmt::format("{}.{}", tile, key), "no such instruction was executed");
}

/// Adds keys of the supervisors of nodes [begin, end), if they have their own issue port.
void add_supervisors(const TileConfig& tile, const std::string& keys, const Built& built,
                     std::size_t begin, std::size_t end, Unused& unused) {
  if (tile.issue != IssueKind::barrel) return;  // they use the workers' costs
  SupervisorWaits all;
  std::set<const program::CodeImage*> seen;
  for (std::size_t at = begin; at < std::min(end, built.images.tiles.size()); ++at) {
    const program::CodeImage* const image = built.images.tiles[at].code.get();
    if (image == nullptr || !seen.insert(image).second) continue;
    const SupervisorWaits its = supervisor_waits(*image, tile);
    all.branches |= its.branches;
    all.loads |= its.loads;
  }
  unused.add(all.branches, keys + ".supervisor.branch_taken_cycles",
             "no supervisor's program has a branch");
  unused.add(all.loads, keys + ".supervisor.load_use_stall_cycles",
             "no supervisor's program reads a loaded register at once");
}

struct MatrixType {
  const char* name;
  Activity activity;
  MatrixShape MatrixUnitConfig::*shape;
};

constexpr MatrixType kMatrixTypes[] = {
    {"f16", Activity::matrix_f16, &MatrixUnitConfig::f16},
    {"f16_f32", Activity::matrix_f16_f32, &MatrixUnitConfig::f16_f32},
    {"f32", Activity::matrix_f32, &MatrixUnitConfig::f32},
    {"i8", Activity::matrix_i8, &MatrixUnitConfig::i8},
    {"i16", Activity::matrix_i16, &MatrixUnitConfig::i16},
    {"bf16", Activity::matrix_bf16, &MatrixUnitConfig::bf16}};

/// True if the unit used blocks that it refuses without smaller_blocks.
bool took_smaller_blocks(const MatrixUnitConfig& unit, const Executed& executed) {
  MatrixUnitConfig own = unit;
  own.smaller_blocks = false;
  return std::ranges::any_of(executed.blocks(), [&](std::uint32_t number) {
    return std::ranges::any_of(kMatrixTypes, [&](const MatrixType& type) {
      return executed.some(type.activity) &&
             unit.with_blocks(number).*type.shape != own.with_blocks(number).*type.shape;
    });
  });
}

void add_matrix_unit(const MatrixUnitConfig& unit, const Executed& executed, Unused& unused) {
  for (const MatrixType& type : kMatrixTypes)
    unused.add(executed.some(type.activity), fmt::format("tile.matrix_unit.{}", type.name),
               "the matrix unit multiplied nothing of this type");
  unused.add(took_smaller_blocks(unit, executed), "tile.matrix_unit.smaller_blocks",
             "the matrix unit multiplied no smaller blocks");
  const bool loads = executed.some(Mnemonic::ldcw);
  for (const char* const key :
       {"matrix_unit.weight_load_bytes_per_cycle", "supervisor.weight_load_cycles"})
    unused.add(loads, fmt::format("tile.{}", key), "the matrix unit was given no weights");
}

void add_energy(const MachineConfig& machine, const Executed& executed, Unused& unused) {
  if (!machine.has_energy) return;
  constexpr std::string_view kNone = "no such operation was executed";
  const std::pair<const char*, Activity> keys[] = {
      {"integer_multiply_pj", Activity::integer_multiply},
      {"integer_divide_pj", Activity::integer_divides},
      {"float_divide_pj", Activity::float_divides},
      {"activation_pj", Activity::activations},
      {"f32_add_pj", Activity::f32_adds},
      {"f32_multiply_pj", Activity::f32_multiplies},
      {"f16_add_pj", Activity::f16_adds},
      {"f16_multiply_pj", Activity::f16_multiplies}};
  for (const auto& [key, activity] : keys)
    unused.add(executed.some(activity), fmt::format("energy.{}", key), kNone);
  for (const MatrixType& type : kMatrixTypes)
    unused.add(executed.some(type.activity), fmt::format("energy.matrix_{}_pj", type.name), kNone);
  const auto exists = [&](MatrixShape MatrixUnitConfig::*shape) {
    return (machine.tile.matrix_unit.*shape).exists() ||
           std::ranges::any_of(machine.nodes, [&](const NodeConfig& node) {
             return (node.tile.matrix_unit.*shape).exists();
           });
  };
  constexpr std::string_view kNoType = "no matrix unit has this type";
  unused.add(exists(&MatrixUnitConfig::f16) || exists(&MatrixUnitConfig::f16_f32),
             "energy.area.f16_mac_um2", kNoType);
  unused.add(exists(&MatrixUnitConfig::f32), "energy.area.f32_mac_um2", kNoType);
  unused.add(exists(&MatrixUnitConfig::i8), "energy.area.i8_mac_um2", kNoType);
}

/// True if bytes cross the floor plan, whose places hold a pair of tiles each.
bool sends_afar(const program::Program& program) {
  const auto pair = [&](const program::Place& place) {
    return index(program.buffer(place.buffer).tile) / 2;
  };
  for (const program::Exchange* exchange : program::flatten(program).exchanges)
    for (const program::Copy& copy : exchange->copies)
      for (const program::Place& place : copy.destinations)
        if (pair(place) != pair(copy.source)) return true;
  return false;
}

/// Adds keys of the fabric.
void add_exchanges(const MachineConfig& machine, const Built& built, const RunResult& result,
                   Unused& unused) {
  if (machine.fabric.kind == "streams") {
    const std::set<std::uint32_t> sent = streams_sent(machine, built.program, result);
    for (std::uint32_t i = 0; i < machine.fabric.streams.size(); ++i)
      unused.add(sent.contains(i), fmt::format("fabric.streams[{}]", i),
                 fmt::format("nothing was sent on stream {}", machine.fabric.streams[i].name));
  }
  constexpr std::string_view kNothing = "tiles exchanged nothing";
  const bool exchanges = result.exchange_bytes != Bytes(0);
  for (const char* const key : {"send_bytes_per_cycle", "receive_bytes_per_cycle", "pair_sharing",
                                "cycles_per_hop", "columns"})
    unused.add(exchanges, fmt::format("fabric.{}", key), kNothing);
  // An exchange without bytes pays this too; transfers with external memory do not.
  unused.add(exchanges || result.time.exchange > result.time.external, "fabric.fixed_cycles",
             kNothing);
  if (!exchanges || machine.fabric.kind != "scheduled") return;
  const bool afar = sends_afar(built.program);
  for (const char* const key : {"cycles_per_hop", "columns"})
    unused.add(afar, fmt::format("fabric.{}", key), "no pair of tiles sent another one anything");
  // Ports count data that a pair receives together once.
  const bool shares = machine.fabric.pair_sharing
                          ? port_use(built.images, result).bytes.received < result.exchange_bytes
                          : result.multicast_bytes != Bytes(0);
  unused.add(shares, "fabric.pair_sharing", "no pair of tiles took the same data together");
}

void add_host(const config::Config& config, const RunResult& result, Unused& unused) {
  const bool measured = config.run.measure == Measure::host;
  const bool transfers =
      measured || result.measured_host_bytes != Bytes(0) || result.time.host != Cycle(0);
  constexpr std::string_view kHost =
      "run.measure is device: transfers with the host, and its launch, are not measured";
  unused.add(measured, "host.launch_us", kHost);
  unused.add(transfers, "host.latency_us", kHost);
  unused.add(transfers, "host.gigabytes_per_second", kHost);
  if (config.machine.has_energy) unused.add(transfers, "energy.host_pj_per_byte", kHost);
}

void add_memory_outside(const MachineConfig& machine, const RunResult& result, Unused& unused) {
  if (!machine.has_external) return;
  const bool outside = (result.external_read + result.external_written) != Bytes(0);
  for (const char* const key :
       {"external", "energy.external_pj_per_byte", "energy.external_activate_pj"})
    unused.add(outside, key, "external memory was not used");
  if (!outside || result.channels.empty()) return;
  ChannelRecord all;
  for (const ChannelRecord& channel : result.channels) all += channel;
  for (const char* const key : {"wtr_clocks", "rtw_clocks"})
    unused.add(all.turnarounds > 0, fmt::format("external.dram.{}", key),
               "no channel went from reads to writes or back");
  for (const char* const key : {"rp_clocks", "ras_clocks", "rtp_clocks", "wr_clocks"})
    unused.add(all.row_conflicts + all.refreshes > 0, fmt::format("external.dram.{}", key),
               "no open row was closed");
}

void add_nodes(const MachineConfig& machine, const Built& built, const RunResult& result,
               Unused& unused) {
  std::uint32_t first = machine.tiles;
  for (std::size_t i = 0; i < machine.nodes.size(); ++i) {
    const std::uint32_t end = first + machine.nodes[i].count;
    const bool named = built.program.tiles() > first;
    unused.add(named, fmt::format("nodes[{}]", i), "the program names none of these nodes");
    if (named) {
      const std::string keys = fmt::format("nodes[{}].tile", i);
      add_instructions({built.images, result, first, end}, keys, unused);
      add_supervisors(machine.nodes[i].tile, keys, built, first, end, unused);
    }
    first = end;
  }
}

/// Adds keys that need several workers per tile.
void add_launches(const TileConfig& tile, const Workload& workload, Unused& unused) {
  const bool several = workload.facts().value("started_contexts", tile.contexts) > 1;
  unused.add(several, "tile.supervisor.launch_stagger_cycles",
             "tiles started one worker at a time");
}

/// The entry of the report's `unused` section that covers a key; null if there is none.
const Json* unused_part(const Json& report, const std::string& key) {
  const auto found = report.find("unused");
  if (found == report.end()) return nullptr;
  for (const Json& part : *found) {
    const auto& unused = part.at("key").get_ref<const std::string&>();
    if (key == unused || config::is_below(key, unused)) return &part;
  }
  return nullptr;
}

/// The keys of one part: by name, or "PART (5 keys)" if there are many.
std::string shown(const std::string& part, const std::vector<std::string>& keys) {
  constexpr std::size_t kMostNamed = 3;
  if (keys.size() > kMostNamed) return fmt::format("{} ({} keys)", part, keys.size());
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace

Json unused_section(const config::Config& config, const Built& built, const RunResult& result) {
  const MachineConfig& machine = config.machine;
  const Executed tiles(built.images, result, 0, machine.tiles);
  const Executed all(built.images, result, 0, node_count(machine));
  Unused unused(config.resolved);
  add_instructions(tiles, "tile", unused);
  add_supervisors(machine.tile, "tile", built, 0, machine.tiles, unused);
  add_matrix_unit(machine.tile.matrix_unit, tiles, unused);
  add_launches(machine.tile, *built.workload, unused);
  add_exchanges(machine, built, result, unused);
  add_host(config, result, unused);
  add_memory_outside(machine, result, unused);
  add_nodes(machine, built, result, unused);
  add_energy(machine, all, unused);
  return unused.take();
}

std::string why_unused(const Json& report, std::string_view path) {
  const Json* const part = unused_part(report, config::named(report.at("config"), path));
  return part == nullptr ? "" : part->at("why").get<std::string>();
}

std::string unused_lines(const Json& report, std::span<const std::string> keys) {
  std::vector<const Json*> parts;  // in order of first key
  std::map<const Json*, std::vector<std::string>> keys_of;
  for (const std::string& key : keys) {
    const std::string name = config::named(report.at("config"), key);
    const Json* const part = unused_part(report, name);
    if (part == nullptr) continue;
    std::vector<std::string>& its = keys_of[part];
    if (its.empty()) parts.push_back(part);
    its.push_back(name);
  }
  std::vector<std::string> reasons;  // in the order of `parts`
  std::map<std::string, std::vector<std::string>> shown_of;
  for (const Json* const part : parts) {
    std::vector<std::string>& its = shown_of[part->at("why")];
    if (its.empty()) reasons.push_back(part->at("why"));
    its.push_back(shown(part->at("key"), keys_of[part]));
  }
  std::string text;
  for (const std::string& why : reasons)
    text += fmt::format("  {:<9} {}: {}\n", text.empty() ? "unused" : "",
                        fmt::join(shown_of[why], ", "), why);
  return text;
}

}  // namespace tessera::report
