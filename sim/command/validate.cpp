#include "sim/command/validate.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "sim/base/whole_file.h"
#include "sim/command/children.h"
#include "sim/command/gates.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"

namespace tessera::command {
namespace {

using config::Json;

/// Runs one config; the result travels as the text of a JSON object, with `error` if it failed.
std::string simulate(const std::function<config::Config()>& read, const Metric& metric,
                     const Simulator& simulator) {
  Json answer;
  try {
    const config::Config config = read();
    const report::Built built = simulator.build(config);
    const report::Report report = make_report(config, built, simulator.run(config, built, nullptr));
    if (!report.passed()) throw UserError("the result is wrong");
    answer["value"] = metric_of(metric, report.json);
    answer["seconds"] = report.json["time"]["seconds"];
    answer["fraction_of_peak"] = report.json["rate"]["fraction_of_peak"];
    answer["time"] = report.json["time"];
  } catch (const std::exception& error) {
    answer["error"] = error.what();
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parsed(const Children::Finished& finished) {
  if (finished.death.empty()) return Json::parse(finished.text);
  return {{"error", "the simulation died: " + finished.death}};
}

Phases phases_of(const Json& time) {
  const auto cycles = time.at("cycles").get<double>();
  const auto share = [&](const char* part) { return time.at(part).get<double>() / cycles; };
  return {share("compute_cycles"), share("exchange_cycles"), share("sync_cycles")};
}

/// The runs of a set: the distinct baselines that its points need, then each point, which may be
/// several runs of which the best counts.
class SetRuns {
 public:
  SetRuns(const ValidationSet& set, bool quick, const Simulator& simulator)
      : set_(set), simulator_(simulator) {
    for (const ValidationPoint& point : set.points) {
      if (!point.quick && quick) continue;
      rows_.push_back({&point, 0, 0, 0, 0, 0, {}, "not run", nullptr});
      for (const Json& at : point.best.over.empty() ? std::vector<Json>{1} : point.best.values) {
        add_item(point, at, quick);
      }
    }
  }

  std::vector<Row> run(unsigned jobs, const std::function<void(const Row&)>& done) {
    run_in_children(
        baselines_.size() + items_.size(), jobs, [&](std::size_t i) { return simulate_item(i); },
        [&](const Children::Finished& finished) {
          if (finished.item < baselines_.size()) {
            return take_baseline(baselines_[finished.item], parsed(finished));
          }
          const std::size_t i = finished.item - baselines_.size();
          take(items_[i], parsed(finished));
          const bool last = i + 1 == items_.size() || items_[i + 1].row != items_[i].row;
          if (last) done(rows_[items_[i].row]);
        });
    return std::move(rows_);
  }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  struct Item {
    std::size_t row;
    ValidationPoint point;  ///< with the value that it is tried at
    double work;            ///< that value; 1 for a point as it is
  };

  void add_item(const ValidationPoint& point, const Json& at, bool quick) {
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
    items_.push_back(std::move(item));
  }

  [[nodiscard]] std::string simulate_item(std::size_t i) const {
    const Catalogue& kernels = simulator_.catalogue;
    if (i < baselines_.size()) {
      return simulate(
          [&] { return baseline_config(set_, baselines_[i], kernels, simulator_.machines); },
          Metric{}, simulator_);
    }
    const ValidationPoint& point = items_[i - baselines_.size()].point;
    return simulate([&] { return point_config(set_, point, kernels, simulator_.machines); },
                    point.metric, simulator_);
  }

  void add_baseline(const Json& baseline, bool needed) {
    const std::string text = baseline.dump();
    if (needed) needed_.insert(text);
    if (seconds_.try_emplace(text, 0.0).second) baselines_.push_back(baseline);
  }

  /// The baseline at the further values that the set's fit asks for.
  [[nodiscard]] std::vector<Json> further_baselines(const Json& baseline) const {
    std::vector<Json> further;
    for (const Json& value : set_.fit.baseline_values) {
      further.push_back(baseline);
      config::set_at(further.back(), set_.fit.best_over, value);
    }
    return further;
  }

  void take_baseline(const Json& baseline, const Json& answer) {
    const std::string text = baseline.dump();
    seconds_[text] = answer.value("seconds", 0.0);
    if (answer.contains("error") && needed_.contains(text)) {
      fmt::print("  baseline {}: {}\n", baseline["workload"].dump(),
                 answer["error"].get<std::string>());
    }
  }

  /// Seconds are those for a unit of work: of the key over which the best is sought.
  void take(const Item& item, const Json& answer) {
    Row& row = rows_[item.row];
    take_baseline_of(item, row);
    if (answer.contains("error")) {
      if (!row.error.empty()) row.error = answer["error"];
      return;
    }
    const double value = answer.at("value");
    if (row.error.empty() && row.simulated >= value) return;
    row.error.clear();
    if (!item.point.best.over.empty()) row.at = item.point.set[item.point.best.over];
    row.simulated = value;
    row.seconds = answer.at("seconds").get<double>() / item.work;
    row.fraction_of_peak = answer.at("fraction_of_peak");
    row.phases = phases_of(answer.at("time"));
    const bool compared = set_.baseline.config.is_null() || row.baseline_seconds > 0;
    if (!compared && item.point.best.over.empty()) row.error = "its baseline has no number";
  }

  void take_baseline_of(const Item& item, Row& row) const {
    if (set_.baseline.config.is_null()) return;
    const Json baseline = baseline_of(set_, item.point);
    const double seconds = seconds_.at(baseline.dump()) / item.work;
    if (seconds > 0 && (row.baseline_seconds == 0 || seconds < row.baseline_seconds)) {
      row.baseline_seconds = seconds;
    }
    const std::vector<Json> further = further_baselines(baseline);
    for (std::size_t i = 0; i < further.size(); ++i) {
      const auto found = seconds_.find(further[i].dump());
      if (found == seconds_.end() || found->second == 0) continue;
      row.baseline_rate =
          std::max(row.baseline_rate, set_.fit.baseline_values[i].get<double>() / found->second);
    }
  }

  const ValidationSet& set_;
  const Simulator& simulator_;
  std::vector<Row> rows_;
  std::vector<Item> items_;
  std::vector<Json> baselines_;
  std::map<std::string, double> seconds_;  ///< by the text of a baseline
  std::set<std::string> needed_;           ///< those of points, which must not fail
};

void print_row(const Row& row) {
  const ValidationPoint& point = *row.point;
  const std::string number =
      point.published != 0 ? fmt::format("{:.6g}", point.published) : std::string("-");
  const std::string published = point.fits ? number : "too large";
  const std::string ratio =
      point.fits && point.published != 0 ? fmt::format("{:.3f}", row.ratio()) : std::string("-");
  if (!row.error.empty()) {
    const std::string error = row.error.substr(0, row.error.find('\n'));
    fmt::print("  {:<28} {:>14}  {}{}\n", point.name, published, error,
               point.fits || point_passes(row) ? "" : "  outside its gate");
  } else {
    std::string more = fmt::format("  {:>3.0f} {:>3.0f} {:>3.0f}", 100 * row.phases.compute,
                                   100 * row.phases.exchange, 100 * row.phases.sync);
    if (row.baseline_seconds > 0) {
      const std::string known = point.published_speedup > 0
                                    ? fmt::format("{:.3g}", point.published_speedup)
                                    : std::string("-");
      more += fmt::format(" {:>9} {:>9.3g}", known, row.speedup());
    }
    fmt::print("  {:<28} {:>14} {:>14.6g} {:>8}{}{}\n", point.name, published, row.simulated, ratio,
               more, point_passes(row) ? "" : "  outside its gate");
  }
  if (!point.why.empty()) fmt::print("    {}\n", point.why);
  std::fflush(stdout);
}

/// A text as a CSV field.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

/// The table as CSV: name, axes, published, simulated, ratio, shares of the simulated cycles,
/// speed-ups, context.
std::string table_csv(const ValidationSet& set, const std::vector<Row>& rows) {
  const bool speedups = !set.baseline.config.is_null();
  std::vector<std::string> context;
  for (const Row& row : rows) {
    for (const auto& item : row.point->context.items()) {
      if (std::find(context.begin(), context.end(), item.key()) == context.end()) {
        context.push_back(item.key());
      }
    }
  }
  std::string text = "name";
  for (const std::string& axis : set.axes) text += "," + quoted(axis);
  text += ",published,simulated,ratio,compute,exchange,sync";
  if (speedups) text += ",published_speedup,simulated_speedup";
  for (const std::string& name : context) text += "," + quoted(name);
  for (const Row& row : rows) {
    const ValidationPoint& point = *row.point;
    text += "\n" + quoted(point.name);
    for (const std::string& axis : set.axes) {
      const Json value = axis == point.best.over ? row.at : value_of(set, point, axis);
      text += "," + quoted(value.is_string() ? value.get<std::string>() : value.dump());
    }
    const bool compares = point.fits && point.published != 0;
    text += compares ? fmt::format(",{}", point.published) : ",";
    text += row.error.empty() ? fmt::format(",{:.9g}", row.simulated) : ",";
    text += row.error.empty() && compares ? fmt::format(",{:.6g}", row.ratio()) : ",";
    const Phases& phases = row.phases;
    text += row.error.empty()
                ? fmt::format(",{:.4g},{:.4g},{:.4g}", phases.compute, phases.exchange, phases.sync)
                : ",,,";
    if (speedups) {
      text += point.published_speedup > 0 ? fmt::format(",{}", point.published_speedup) : ",";
      text += row.error.empty() ? fmt::format(",{:.6g}", row.speedup()) : ",";
    }
    for (const std::string& name : context) {
      text += "," + (point.context.contains(name) ? quoted(point.context.at(name).dump()) : "");
    }
  }
  return text + "\n";
}

void print_heading(const ValidationSet& set) {
  fmt::print("{}: {}\n  {}\n  {:<28} {:>14} {:>14} {:>8}", set.name, set.title, set.citation,
             set.metric.unit, "published", "simulated", "ratio");
  fmt::print("  compute exchange sync, %");
  fmt::print("{}\n", set.baseline.config.is_null() ? "" : "  speed-up: published, simulated");
}

bool validate_set(const ValidationSet& set, const ValidateRequest& request,
                  const std::string& folder, const Simulator& simulator) {
  SetRuns runs(set, request.quick, simulator);
  if (runs.empty()) return true;
  print_heading(set);
  const unsigned jobs =
      request.jobs > 0 ? request.jobs : std::max(1U, std::thread::hardware_concurrency());
  const std::vector<Row> rows = runs.run(jobs, print_row);
  if (!folder.empty()) {
    create_folder(folder);
    write_whole(std::filesystem::path(folder) / (set.name + ".csv"), table_csv(set, rows));
    fmt::print("  table: {}/{}.csv\n", folder, set.name);
  }
  if (!set.why.empty()) fmt::print("  why: {}\n", set.why);
  return judge(set, rows, request.quick);
}

bool is_file(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".jsonc") || name.find('/') != std::string::npos;
}

ValidationSet set_of_file(const std::string& file) {
  const std::string text = config::read_text(file);
  const std::string name = std::filesystem::path(file).stem().string();
  return read_validation_set({name, text}, file);
}

}  // namespace

ExitCode validate(const ValidateRequest& request, const Simulator& simulator) {
  std::vector<std::string_view> names;
  for (const config::Preset& preset : simulator.validation) names.push_back(preset.name);
  for (const std::string& name : request.sets) {
    if (is_file(name) || std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw UserError(fmt::format("tessera validate: found {}, allowed {}, or a file{}", name,
                                config::list_of(names), config::did_you_mean(name, names)));
  }
  bool passed = true;
  const auto& wanted = request.sets;
  for (const config::Preset& preset : simulator.validation) {
    const std::string name(preset.name);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    passed &= validate_set(read_validation_set(preset), request, request.out, simulator);
  }
  for (const std::string& file : wanted) {
    if (!is_file(file)) continue;
    const std::string folder = request.out.empty() ? "runs" : request.out;
    passed &= validate_set(set_of_file(file), request, folder, simulator);
  }
  return passed ? ExitCode::done : ExitCode::check_failed;
}

}  // namespace tessera::command
