#include "sim/report/analysis.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

#include "sim/base/errors.h"

namespace tessera::report {
namespace {

constexpr std::size_t kLargest = 3;

/// The columns of steps.csv that the analysis reads, found once.
struct Steps {
  explicit Steps(const RunFolder& run)
      : name(run.steps.at("name")),
        kind(run.steps.at("kind")),
        cycles(run.steps.at("cycles")),
        last_tile(run.steps.at("last_tile")),
        most_compute(run.steps.at("most_compute_cycles")),
        mean_compute(run.steps.at("mean_compute_cycles")),
        flops(run.steps.at("flops")),
        exchange_bytes(run.steps.at("exchange_bytes")),
        parts{&run.steps.at("compute_cycles"), &run.steps.at("exchange_cycles"),
              &run.steps.at("sync_cycles"),    &run.steps.at("link_cycles"),
              &run.steps.at("host_cycles"),    &run.steps.at("wait_cycles")} {}

  const Column &name, &kind, &cycles, &last_tile, &most_compute, &mean_compute, &flops,
      &exchange_bytes;
  std::array<const Column*, 6> parts;

  void add(std::size_t row, Phase& phase) const {
    ++phase.supersteps;
    phase.parts.compute += parts[0]->values[row];
    phase.parts.exchange += parts[1]->values[row];
    phase.parts.sync += parts[2]->values[row];
    phase.parts.link += parts[3]->values[row];
    phase.parts.host += parts[4]->values[row];
    phase.parts.wait += parts[5]->values[row];
    phase.most_compute += most_compute.values[row];
    phase.mean_compute += mean_compute.values[row];
    phase.flops += flops.values[row];
    phase.exchange_bytes += exchange_bytes.values[row];
  }
};

Bound bound_of(const Phase& phase, bool of_bytes) {
  const bool moves = of_bytes || phase.flops == 0;
  const std::pair<double, Bound> found[] = {
      {phase.parts.compute, moves ? Bound::memory : Bound::compute},
      {phase.parts.exchange, Bound::exchange},
      {phase.parts.sync, Bound::sync},
      {phase.parts.link, Bound::link},
      {phase.parts.host, Bound::host},
      {phase.parts.wait, Bound::wait}};
  return std::ranges::max_element(found,
                                  [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

bool peak_of_bytes(const RunFolder& run) {
  return run.report.at("rate").at("peak_type").get<std::string>() == "bytes";
}

using Waits = std::map<std::uint64_t, double>;  ///< cycles of supersteps in which a tile came last

void name_critical_tile(const Waits& waits, Phase& phase) {
  for (const auto& [tile, cycles] : waits) {
    if (cycles <= phase.critical_cycles) continue;
    phase.critical_tile = tile;
    phase.critical_cycles = cycles;
  }
}

std::vector<std::size_t> largest_steps(const std::vector<double>& cycles) {
  std::vector<std::size_t> rows(cycles.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::size_t kept = std::min(kLargest, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                    [&](std::size_t a, std::size_t b) {
                      return cycles[a] != cycles[b] ? cycles[a] > cycles[b] : a < b;
                    });
  rows.resize(kept);
  return rows;
}

/// Adds the host's transfers before and after the program, outside any superstep: the host cycles
/// of `time` beyond those within supersteps.
void add_host(const RunFolder& run, Analysis& analysis) {
  Phase host;
  host.name = "host, before and after";
  host.kind = "host";
  host.parts.host =
      run.report.at("time").at("host_cycles").get<double>() - analysis.whole.parts.host;
  if (host.parts.host <= 0) return;
  host.bound = Bound::host;
  analysis.whole.parts.host += host.parts.host;
  analysis.phases.push_back(std::move(host));
}

/// Adds a phase per stage, along the tile that computes most. Supersteps of independent nodes
/// overlap, so their cycles cannot be summed.
void analyse_stages(const RunFolder& run, Analysis& analysis) {
  for (const auto& [name, stage] : run.report.at("stages").items()) {
    Phase& phase = analysis.phases.emplace_back();
    phase.name = name;
    phase.kind = "stage";
    const auto cycles = stage.at("cycles").get<double>();
    phase.most_compute = phase.mean_compute = stage.at("compute_cycles").get<double>();
    phase.parts.compute = std::min(cycles, phase.most_compute);
    phase.parts.exchange = cycles - phase.parts.compute;
    double busiest = 0;
    for (const auto& [stream, carried] : stage.at("streams").items())
      busiest = std::max(busiest, carried.at("cycles").get<double>());
    phase.bound = phase.most_compute >= busiest ? Bound::compute : Bound::exchange;
  }
  const nlohmann::ordered_json& time = run.report.at("time");
  const auto part = [&time](const char* name) { return time.at(name).get<double>(); };
  Parts& parts = analysis.whole.parts;
  parts = {part("compute_cycles"), part("exchange_cycles"), part("sync_cycles"),
           part("link_cycles"),    part("host_cycles"),     part("wait_cycles")};
  analysis.whole.supersteps = run.steps.rows;
  const double moved = parts.exchange + parts.wait;
  analysis.whole.bound = parts.host > std::max(parts.compute, moved) ? Bound::host
                         : parts.compute >= moved                    ? Bound::compute
                                                                     : Bound::exchange;
  const std::vector<double>& computed = run.tiles.at("compute_cycles").values;
  const auto tiles = run.report.at("config").at("machine").at("tiles").get<std::size_t>();
  const std::span<const double> cores(computed.data(), std::min(tiles, computed.size()));
  if (cores.empty()) return;
  analysis.whole.most_compute = std::ranges::max(cores);
  analysis.whole.mean_compute =
      std::accumulate(cores.begin(), cores.end(), 0.0) / static_cast<double>(cores.size());
  analysis.whole.critical_tile =
      static_cast<std::uint64_t>(std::ranges::max_element(cores) - cores.begin());
}

}  // namespace

bool has_stages(const RunFolder& run) {
  const auto found = run.report.find("stages");
  return found != run.report.end() && found->is_object();
}

bool goes_by_stages(const RunFolder& run) {
  return has_stages(run) &&
         run.report.at("config").at("machine").at("fabric").at("kind") == "streams";
}

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, 7> kNames = {"compute", "exchange", "sync", "link",
                                                      "memory",  "host",     "wait"};
  return kNames[static_cast<std::size_t>(bound)];
}

Analysis analyse(const RunFolder& run) {
  const Steps steps(run);
  const bool of_bytes = peak_of_bytes(run);
  Analysis analysis;
  if (goes_by_stages(run)) {
    analyse_stages(run, analysis);
    return analysis;
  }
  std::map<std::pair<double, double>, std::size_t> known;  // by indices of name and kind
  std::vector<Waits> waits;
  Waits waits_of_all;
  for (std::size_t row = 0; row < run.steps.rows; ++row) {
    const auto [at, fresh] = known.emplace(
        std::pair(steps.name.values[row], steps.kind.values[row]), analysis.phases.size());
    if (fresh) {
      Phase& phase = analysis.phases.emplace_back();
      phase.name = steps.name.word(row);
      phase.kind = steps.kind.word(row);
      waits.emplace_back();
    }
    steps.add(row, analysis.phases[at->second]);
    steps.add(row, analysis.whole);
    const auto last = static_cast<std::uint64_t>(steps.last_tile.values[row]);
    waits[at->second][last] += steps.cycles.values[row];
    waits_of_all[last] += steps.cycles.values[row];
  }
  for (std::size_t i = 0; i < analysis.phases.size(); ++i) {
    name_critical_tile(waits[i], analysis.phases[i]);
    analysis.phases[i].bound = bound_of(analysis.phases[i], of_bytes);
  }
  add_host(run, analysis);
  name_critical_tile(waits_of_all, analysis.whole);
  analysis.whole.bound = bound_of(analysis.whole, of_bytes);
  std::ranges::stable_sort(analysis.phases, [](const Phase& a, const Phase& b) {
    return a.parts.total() > b.parts.total();
  });
  analysis.largest = largest_steps(steps.cycles.values);
  return analysis;
}

Bound bound_of_step(const RunFolder& run, std::size_t row) {
  Phase alone;
  Steps(run).add(row, alone);
  return bound_of(alone, peak_of_bytes(run));
}

}  // namespace tessera::report
