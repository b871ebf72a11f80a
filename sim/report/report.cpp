#include "sim/report/report.h"

#include <cmath>
#include <sys/resource.h>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/machine/nodes.h"
#include "sim/report/external.h"
#include "sim/report/peak.h"
#include "sim/report/stages.h"
#include "sim/report/stalls.h"
#include "sim/report/tile_steps.h"
#include "sim/report/time_bound.h"
#include "sim/report/unused.h"
#include "sim/report/version.h"

namespace tessera::report {

using Json = nlohmann::ordered_json;

namespace {

Json time_section(const MachineConfig& machine, const program::Program& program,
                  const RunResult& result) {
  const TimeParts& time = result.time;
  return {
      {"cycles", time.total().count()},
      {"seconds", static_cast<double>(time.total().count()) / (machine.clock_ghz * 1e9)},
      {"compute_cycles", time.compute.count()},
      {"exchange_cycles", time.exchange.count()},
      {"sync_cycles", time.sync.count()},
      {"link_cycles", time.link.count()},
      {"host_cycles", time.host.count()},
      {"wait_cycles", time.wait.count()},
      {"supersteps", result.supersteps},
      {"port_wait_cycles", time.port_wait.count()},
      {"mean_overlapped_cycles", static_cast<double>(result.overlapped.count()) / program.tiles()},
      {"external_cycles", time.external.count()}};
}

/// The counted operations if useful work depends on values, else the workload's formula.
std::uint64_t useful_flops(const Workload& workload, const Outcome& outcome) {
  if (!outcome.results.contains("useful_flops")) return workload.useful_flops();
  return outcome.results.at("useful_flops").get<std::uint64_t>();
}

Json rate_section(const MachineConfig& machine, const Workload& workload, const Outcome& outcome) {
  const RunResult& result = outcome.result;
  const double seconds =
      static_cast<double>(result.time.total().count()) / (machine.clock_ghz * 1e9);
  const auto per_second = [seconds](std::uint64_t amount) {
    return seconds > 0 ? static_cast<double>(amount) / seconds : 0.0;
  };
  const Peak peak = peak_of(machine, workload.peak_type());
  const double flops = per_second(useful_flops(workload, outcome));
  const double useful_bytes = per_second(workload.useful_bytes());
  const double useful = peak.of_bytes      ? useful_bytes
                        : peak.of_integers ? per_second(workload.useful_integer_operations())
                                           : flops;
  Json section = {{"flops_per_second", per_second(result.flops)},
                  {"useful_flops_per_second", flops},
                  {"fraction_of_peak", peak.per_second > 0 ? useful / peak.per_second : 0.0},
                  {"peak_type", peak.type},
                  {"peak_per_second", peak.per_second}};
  if (workload.useful_bytes() > 0) section["useful_bytes_per_second"] = useful_bytes;
  if (peak.of_integers || workload.useful_integer_operations() > 0)
    section["useful_integer_operations_per_second"] =
        per_second(workload.useful_integer_operations());
  return section;
}

/// Numbers derived from the matrix unit's shapes, for the types it has.
Json matrix_unit_section(const MatrixUnitConfig& unit) {
  Json section = Json::object();
  const auto add = [&](const char* type, const MatrixShape& shape) {
    if (!shape.exists()) return;
    section[type] = {{"phases", shape.phases()},
                     {"macs_per_slot", shape.macs_per_slot()},
                     {"weight_words", shape.weight_words()}};
  };
  add("f16", unit.f16);
  add("f16_f32", unit.f16_f32);
  add("f32", unit.f32);
  add("i8", unit.i8);
  add("i16", unit.i16);
  add("bf16", unit.bf16);
  return section;
}

Json memory_section(const MachineConfig& machine, const program::Images& images) {
  const TileId fullest = program::fullest_tile(images, machine);
  const program::CategoryBytes& usage = images.tiles[index(fullest)].memory;
  Json categories = Json::object();
  for (std::size_t i = 0; i < program::kCategories; ++i) {
    const auto category = static_cast<program::Category>(i);
    categories[std::string(program::category_name(category))] = usage[i];
  }
  const TileConfig& tile = tile_of(machine, index(fullest));
  Json section = {{"max_tile_bytes", program::total(usage)},
                  {"max_tile", index(fullest)},
                  {"total_bytes", program::summarise_memory(images).total_bytes},
                  {"capacity_bytes_per_tile", memory_bytes(machine.tile)},
                  {"max_tile_capacity_bytes", memory_bytes(tile)},
                  {"categories", std::move(categories)}};
  if (images.shortest_lists) section["lists"] = "shortest";
  if (tile.program_kib > 0) section["max_tile_sram_bytes"] = sram_bytes(tile);
  return section;
}

/// The classes of nodes besides the tiles, and how many nodes of each the program uses.
Json nodes_section(const MachineConfig& machine, std::uint32_t named) {
  Json section = Json::array();
  std::uint32_t first = machine.tiles;
  for (const NodeConfig& node : machine.nodes) {
    section.push_back({{"class", node.name},
                       {"first_tile", first},
                       {"count", node.count},
                       {"used", std::min(node.count, std::max(named, first) - first)},
                       {"contexts", node.tile.contexts},
                       {"capacity_bytes", memory_bytes(node.tile)}});
    first += node.count;
  }
  return section;
}

/// One entry per run, if there are several or the workload has facts about it.
Json runs_section(const Workload& workload, const Outcome& outcome) {
  Json section = Json::array();
  for (std::uint32_t i = 0; i < outcome.result.runs.size(); ++i) {
    const RunRecord& run = outcome.result.runs[i];
    Json entry = {{"cycles", run.cycles.count()}, {"supersteps", run.supersteps}};
    if (i < outcome.checks.size()) entry["passed"] = outcome.checks[i].passed;
    entry.update(workload.run_facts(i));
    section.push_back(std::move(entry));
  }
  return section;
}

/// Shares of the total rate of receiving ports: during the schedules, and over the whole run.
Json ports_section(const MachineConfig& machine, const PortUse& use, Cycle all) {
  double ports = machine.tiles;
  for (const NodeConfig& node : machine.nodes)
    ports += static_cast<double>(node.count) *
             port_factor(machine, node, PortConfig::Direction::receive);
  const double rate = static_cast<double>(machine.fabric.receive_bytes_per_cycle) * ports;
  const auto bytes = static_cast<double>(use.bytes.received.count());
  const auto share = [&](Cycle cycles) {
    return bytes / std::max(1.0, rate * static_cast<double>(cycles.count()));
  };
  return {{"bytes", use.bytes.received.count()},
          {"cycles", use.makespan.count()},
          {"share", share(use.makespan)},
          {"share_of_run", share(all)},
          {"peak_bytes_per_second", rate * machine.clock_ghz * 1e9}};
}

Json traffic_section(const config::Config& config, const Built& built, const RunResult& result) {
  Json section = {
      {"exchange_bytes", result.exchange_bytes.count()},
      {"multicast_bytes", result.multicast_bytes.count()},
      {"host_bytes", program::host_bytes(built.program).total().count() * result.runs.size() +
                         result.host_bytes.count()},
      {"max_tile_sent", result.max_tile_sent.count()},
      {"max_tile_received", result.max_tile_received.count()},
      {"external_bytes", (result.external_read + result.external_written).count()}};
  const PortUse use = port_use(built.images, result);
  if (use.bytes.received != Bytes(0))
    section["ports"] = ports_section(config.machine, use, result.time.total());
  return section;
}

Json object_of(const EnergyResult::Parts& parts) {
  Json object = Json::object();
  for (const auto& [name, value] : parts) object[name] = value;
  return object;
}

Json energy_section(const MachineConfig& machine, const RunResult& result) {
  const EnergyResult& energy = *result.energy;
  const double joules = energy.total_joules();
  const double seconds =
      static_cast<double>(result.time.total().count()) / (machine.clock_ghz * 1e9);
  Json work = Json::object();
  for (const auto& [name, count] : energy.work) work[name] = count;
  Json mm2 = object_of(energy.mm2);
  mm2["total"] = energy.total_mm2();
  Json section = {
      {"joules", joules},
      {"watts", seconds > 0 ? joules / seconds : 0.0},
      {"flops_per_joule", joules > 0 ? static_cast<double>(result.flops) / joules : 0.0},
      {"by_part", object_of(energy.joules)},
      {"work", std::move(work)},
      {"area_mm2", std::move(mm2)},
      {"node", energy.node}};
  if (energy.volts > 0) section["volts"] = energy.volts;
  return section;
}

/// Energy per item that the workload has counted.
Json joules_each(double joules, const Json& counts) {
  Json each = Json::object();
  for (const auto& [name, count] : counts.items())
    if (count.get<double>() > 0) each[name] = joules / count.get<double>();
  return each;
}

Json check_section(const CheckResult& check) {
  if (check.method == "off" || check.method == kNotComputed)
    return {
        {"passed", nullptr}, {"max_error", nullptr}, {"bound", nullptr}, {"method", check.method}};
  Json json = {{"passed", check.passed},     {"max_error", check.max_error},
               {"bound", check.bound},       {"method", check.method},
               {"compared", check.compared}, {"replayed", check.replayed},
               {"mean_error", check.mean},   {"rms_error", check.rms}};
  if (check.threshold > 0) {
    json["threshold"] = check.threshold;
    json["lone_threshold"] = check.lone_threshold;
    json["missed_probability"] = check.missed_probability;
  }
  if (!check.problem.empty()) json["problem"] = check.problem;
  if (!check.note.empty()) json["note"] = check.note;
  return json;
}

/// The outcome of a requested timing run.
Json timing_section(const TimingRun& timing) {
  if (timing.values) return {{"values", true}, {"reason", timing.reason}};
  return {{"values", false}, {"tile_kinds", timing.tile_kinds}, {"vertices", timing.vertices}};
}

Json host_section(const config::Config& config, const Built& built, const Outcome& outcome) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double seconds = outcome.result.host_seconds;
  const auto instructions = static_cast<double>(outcome.result.instructions);
  return {{"seconds", seconds},
          {"build_seconds", built.seconds},
          {"check_seconds", outcome.check_seconds},
          {"threads", outcome.threads},
          {"engine", tessera::name_of(engine_of(config.run, config.machine.tile))},
          {"instructions_per_second", seconds > 0 ? instructions / seconds : 0.0},
          {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024}};
}

Json prediction_section(const Prediction& prediction) {
  return {{"cycles", prediction.cycles},
          {"compute_cycles", prediction.compute_cycles},
          {"exchange_cycles", prediction.exchange_cycles},
          {"sync_cycles", prediction.sync_cycles}};
}

}  // namespace

void Outcome::add(const CheckResult& one) {
  const auto over = [](const CheckResult& its) {  // NaN is worse than any number
    return its.max_error <= its.bound ? its.max_error / its.bound : INFINITY;
  };
  const bool worse = checks.empty() || (check.passed && !one.passed) ||
                     (check.passed == one.passed && over(one) > over(check));
  if (worse) check = one;
  checks.push_back(one);
}

bool Report::passed() const {
  const Json& verdict = json.at("check").at("passed");
  return verdict.is_null() || verdict.get<bool>();
}

namespace {

/// "bow, 1472 tiles, 1.85 GHz": for tables whose rows have no config.
std::string machine_text(const MachineConfig& machine) {
  return fmt::format("{}{}, {} GHz", machine.name.empty() ? "" : machine.name + ", ",
                     counted(machine.tiles, "tile"), machine.clock_ghz);
}

/// The sections that identify a report's subject.
Json head_of(const config::Config& config, const std::string& problem, Json plan) {
  return {{"tessera", {{"version", kVersion}, {"commit", kCommit}}},
          {"identity", {{"problem", problem}, {"machine", machine_text(config.machine)}}},
          {"config", config::identity(config.resolved)},
          {"plan", std::move(plan)}};
}

}  // namespace

Json static_report(const config::Config& config, const Built& built) {
  Json json = head_of(config, fmt::format("{} {}", config.kernel, built.workload->problem()),
                      built.workload->plan());
  json["workload"] = built.workload->facts();
  json["prediction"] = prediction_section(
      built.workload->prediction().measured(config.run.measure == Measure::host));
  json["memory"] = memory_section(config.machine, built.images);
  if (!config.machine.nodes.empty())
    json["nodes"] = nodes_section(config.machine, built.program.tiles());
  if (config.machine.tile.overlap) json["overlap"] = {{"used", overlaps(built.images)}};
  return json;
}

Json predicted_report(const config::Config& config, const sensitivity::Answer& answer) {
  Json json = head_of(config, answer.problem, Json::parse(answer.plan));
  Json& prediction = json["prediction"] = prediction_section(answer.prediction);
  if (config.run.measure == Measure::host) prediction["host_cycles"] = answer.host_cycles;
  prediction["seconds"] = answer.seconds;
  if (answer.joules) prediction["joules"] = *answer.joules;
  if (answer.mm2) prediction["area_mm2"] = *answer.mm2;
  return json;
}

Report make_report(const config::Config& config, const Built& built, const Outcome& outcome) {
  const RunResult& result = outcome.result;
  Json known = static_report(config, built);
  Json json = {{"tessera", std::move(known["tessera"])},
               {"identity", std::move(known["identity"])},
               {"config", std::move(known["config"])},
               {"plan", std::move(known["plan"])},
               {"workload", std::move(known["workload"])},
               {"prediction", std::move(known["prediction"])},
               {"time", time_section(config.machine, built.program, result)},
               {"work",
                {{"instructions", result.instructions},
                 {"flops", result.flops},
                 {"useful_flops", useful_flops(*built.workload, outcome)}}},
               {"rate", rate_section(config.machine, *built.workload, outcome)},
               {"matrix_unit", matrix_unit_section(config.machine.tile.matrix_unit)},
               {"memory", std::move(known["memory"])},
               {"traffic", traffic_section(config, built, result)}};
  if (Json stages = stages_section(config.machine, built.program, result); !stages.is_null())
    json["stages"] = std::move(stages);
  if (config.machine.has_external)
    json["external"] = external_section(config.machine, built.images, result);
  for (const char* part : {"nodes", "overlap"})
    if (known.contains(part)) json[part] = std::move(known[part]);
  if (Json bound = bound_section(config.machine, built.images, result,
                                 busiest_stream(config.machine, built.program, result));
      !bound.is_null())
    json["bound"] = std::move(bound);
  if (!result.stalls.empty()) json["stalls"] = stalls_section(result, config.machine);
  // Without an energy table the energy is unknown, not zero.
  if (result.energy) json["energy"] = energy_section(config.machine, result);
  std::string raster_csv;
  if (!outcome.results.empty()) {
    Json& results = json["results"] = outcome.results;
    results.erase("useful_flops");
    if (results.contains("raster")) {
      raster_csv = results["raster"].at("csv").get<std::string>();
      results["raster"].erase("csv");
    }
  }
  if (result.energy && outcome.results.contains("counts"))
    json["energy"]["joules_each"] =
        joules_each(result.energy->total_joules(), outcome.results.at("counts"));
  json["unused"] = unused_section(config, built, result);
  json["check"] = check_section(outcome.check);
  if (outcome.timing) json["timing"] = timing_section(*outcome.timing);
  if (result.runs.size() > 1 || !built.workload->run_facts(0).empty())
    json["runs"] = runs_section(*built.workload, outcome);
  json["host"] = host_section(config, built, outcome);
  return {std::move(json),
          steps_csv(built.images, result),
          tiles_csv(built.images, result, config.machine),
          traffic_csv(built.program, result),
          buffers_csv(config.machine, built.program, built.images),
          tile_steps_npy(result.tile_steps),
          loss_csv(outcome.results),
          std::move(raster_csv)};
}

nlohmann::ordered_json without_values(nlohmann::ordered_json report) {
  for (const char* section : {"host", "check", "timing", "results"}) report.erase(section);
  report.at("config").at("run").erase("values");
  report.at("config").at("run").erase("check");
  if (report.contains("energy")) report.at("energy").erase("joules_each");
  if (report.contains("runs"))
    for (auto& run : report.at("runs")) run.erase("passed");
  return report;
}

}  // namespace tessera::report
