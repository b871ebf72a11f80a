#include "sim/command/validation_runs.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/children.h"
#include "sim/base/host_limit.h"
#include "sim/command/point_runner.h"
#include "sim/config/key_path.h"
#include "sim/sweep/point_ids.h"
#include "sim/sweep/store.h"

namespace tessera::command {
namespace {

using config::Json;

/// Runs a config and stores its result in `folder` (unless empty), or returns the stored one.
sweep::Result result_of(const config::Config& config, const std::string& folder,
                        const Simulator& simulator) {
  if (folder.empty()) return run_point(config, simulator);
  const sweep::Store store(folder);
  const std::string id = sweep::PointIds(sweep::program_identity()).of(config);
  std::optional<sweep::Result> result = store.find(id);
  if (!result) {
    result = run_point(config, simulator);
    store.put(id, *result);
  }
  return *result;
}

/// Answers one config as a JSON object: the value of each metric; `error` if it failed, `starved`
/// if the host lacked resources.
std::string simulate(const std::function<config::Config()>& read,
                     const std::vector<Metric>& metrics, const std::vector<std::string>& columns,
                     const std::string& folder, const Simulator& simulator) {
  Json answer;
  try {
    const sweep::Result result = result_of(read(), folder, simulator);
    if (!sweep::has_numbers(result.status))
      return config::one_line({{result.status == "starved" ? "starved" : "error", result.error}});
    const Json& report = result.report;
    for (const Metric& metric : metrics) answer["values"].push_back(metric_of(metric, report));
    answer["seconds"] = report["time"]["seconds"];
    answer["fraction_of_peak"] = report["rate"]["fraction_of_peak"];
    answer["time"] = report["time"];
    answer["columns"] = Json::object();
    for (const std::string& key : columns)
      if (const Json* const at = config::find_at(report, key)) answer["columns"][key] = *at;
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    answer[failure.code == ExitCode::host_limit ? "starved" : "error"] = failure.message;
  }
  return config::one_line(answer);
}

Json parsed(const Children::Finished& finished) {
  if (finished.starved) throw HostLimit("a simulation died: " + finished.death);
  if (!finished.death.empty()) return {{"error", "the simulation died: " + finished.death}};
  Json answer = Json::parse(finished.text);
  if (answer.contains("starved")) throw HostLimit(answer["starved"].get<std::string>());
  return answer;
}

Phases phases_of(const Json& time) {
  const auto cycles = time.at("cycles").get<double>();
  const auto share = [&](const char* part) { return time.at(part).get<double>() / cycles; };
  return {share("compute_cycles"), share("exchange_cycles"), share("sync_cycles"),
          share("host_cycles"), share("wait_cycles")};
}

}  // namespace

ValidationRuns::ValidationRuns(const ValidationSet& set, bool quick, std::string folder,
                               const Simulator& simulator)
    : set_(set), folder_(std::move(folder)), simulator_(simulator) {
  for (const ValidationPoint& point : set.points) {
    if (!point.quick && quick) continue;
    rows_.push_back({&point, 0, 0, 0, 0, 0, {}, "not run"});
    for (const Json& at : point.best.over.empty() ? Json::array({1}) : point.best.values) {
      add_item(point, at, quick);
    }
  }
}

std::vector<Row> ValidationRuns::run(unsigned jobs, const std::function<void(const Row&)>& done,
                                     const std::function<void(std::size_t)>& watch) {
  std::size_t ended = 0;
  run_in_children(
      baselines_.size() + runs_.size(), jobs, [&](std::size_t i) { return simulate_run(i); },
      [&](const Children::Finished& finished) {
        if (finished.item < baselines_.size()) {
          ++ended;
          return take_baseline(baselines_[finished.item], parsed(finished));
        }
        const Shared& run = runs_[finished.item - baselines_.size()];
        ended += run.end - run.begin;
        const Json answer = parsed(finished);
        for (std::size_t i = run.begin; i < run.end; ++i) {
          take(items_[i], i - run.begin, answer);
          const bool last = i + 1 == items_.size() || items_[i + 1].row != items_[i].row;
          if (last) done(rows_[items_[i].row]);
        }
      },
      [&](std::size_t /*runs*/) { watch(ended); });
  return std::move(rows_);
}

void ValidationRuns::add_item(const ValidationPoint& point, const Json& at, bool quick) {
  Item item{rows_.size() - 1, point, at.get<double>()};
  const bool single = point.best.over.empty();
  if (!single) item.point.set[point.best.over] = at;
  if (!set_.baseline.config.is_null()) {
    const Json baseline = baseline_of(set_, item.point);
    add_baseline(baseline, single);
    for (const Json& further : further_baselines(baseline)) {
      if (!quick) add_baseline(further, false);
    }
  }
  if (runs_.empty() || items_.back().point.set != item.point.set)
    runs_.push_back({items_.size(), items_.size()});
  ++runs_.back().end;
  items_.push_back(std::move(item));
}

std::string ValidationRuns::simulate_run(std::size_t i) const {
  const Catalogue& kernels = simulator_.catalogue;
  if (i < baselines_.size()) {
    return simulate(
        [&] { return baseline_config(set_, baselines_[i], kernels, simulator_.machines); },
        {Metric{}}, set_.columns, folder_, simulator_);
  }
  const Shared& run = runs_[i - baselines_.size()];
  std::vector<Metric> metrics;
  for (std::size_t item = run.begin; item < run.end; ++item)
    metrics.push_back(items_[item].point.metric);
  const ValidationPoint& point = items_[run.begin].point;
  return simulate([&] { return point_config(set_, point, kernels, simulator_.machines); }, metrics,
                  set_.columns, folder_, simulator_);
}

void ValidationRuns::add_baseline(const Json& baseline, bool needed) {
  const std::string text = baseline.dump();
  if (needed) needed_.insert(text);
  if (seconds_.try_emplace(text, 0.0).second) baselines_.push_back(baseline);
}

std::vector<Json> ValidationRuns::further_baselines(const Json& baseline) const {
  std::vector<Json> further;
  for (const Json& value : set_.fit.baseline_values) {
    further.push_back(baseline);
    config::set_at(further.back(), set_.fit.best_over, value);
  }
  return further;
}

void ValidationRuns::take_baseline(const Json& baseline, const Json& answer) {
  const std::string text = baseline.dump();
  seconds_[text] = answer.value("seconds", 0.0);
  baseline_columns_[text] = answer.value("columns", Json::object());
  if (answer.contains("error") && needed_.contains(text)) {
    fmt::print("  baseline {}: {}\n", baseline["workload"].dump(),
               answer["error"].get<std::string>());
  }
}

void ValidationRuns::take(const Item& item, std::size_t at, const Json& answer) {
  Row& row = rows_[item.row];
  take_baseline_of(item, row);
  if (answer.contains("error")) {
    if (!row.error.empty()) row.error = answer["error"];
    return;
  }
  const double value = answer.at("values").at(at);
  if (row.error.empty() && row.simulated >= value) return;
  row.error.clear();
  if (!item.point.best.over.empty()) row.at = item.point.set[item.point.best.over];
  row.simulated = value;
  row.seconds = answer.at("seconds").get<double>() / item.work;
  row.fraction_of_peak = answer.at("fraction_of_peak");
  row.phases = phases_of(answer.at("time"));
  row.columns = answer.at("columns");
  const bool compared = set_.baseline.config.is_null() || row.baseline_seconds > 0;
  if (!compared && item.point.best.over.empty()) row.error = "its baseline has no number";
}

void ValidationRuns::take_baseline_of(const Item& item, Row& row) const {
  if (set_.baseline.config.is_null()) return;
  const Json baseline = baseline_of(set_, item.point);
  const double seconds = seconds_.at(baseline.dump()) / item.work;
  if (seconds > 0 && (row.baseline_seconds == 0 || seconds < row.baseline_seconds)) {
    row.baseline_seconds = seconds;
    row.baseline_columns = baseline_columns_.at(baseline.dump());
  }
  const std::vector<Json> further = further_baselines(baseline);
  for (std::size_t i = 0; i < further.size(); ++i) {
    const auto found = seconds_.find(further[i].dump());
    if (found == seconds_.end() || found->second == 0) continue;
    row.baseline_rate =
        std::max(row.baseline_rate, set_.fit.baseline_values[i].get<double>() / found->second);
  }
}

}  // namespace tessera::command
