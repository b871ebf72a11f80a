#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/leftovers.h"
#include "sim/base/parallel.h"
#include "sim/base/ranges.h"
#include "sim/base/sizes.h"
#include "sim/base/unfinished.h"
#include "sim/base/whole_file.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/point_runner.h"
#include "sim/command/progress.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"
#include "sim/data/read_file.h"
#include "sim/sensitivity/result.h"
#include "sim/sweep/folder_lock.h"
#include "sim/sweep/point_ids.h"

namespace tessera::command {
namespace {

struct SensitivityRequest {
  std::string file;
  std::vector<std::string> sets;
  std::vector<std::string> keys;  ///< only these keys and keys below them; empty: all
  std::string seed;
  std::string by;
  std::string out;
  unsigned jobs = 0;  ///< parallel runs; 0: one per core
  bool simulate = false;
  bool quiet = false;
};

using config::Config;
using sensitivity::Answer;
using sensitivity::End;
using sensitivity::Key;

double parse_factor(const std::string& text) {
  if (text.empty()) return 2;
  constexpr double kLeast = 1.01, kMost = 1000;
  const std::optional<double> by = number_in<double>(text);
  if (!by || !(*by >= kLeast && *by <= kMost))
    throw UserError(
        "tessera sensitivity: --by: found {}, allowed a number from {} to "
        "{}",
        text, kLeast, kMost);
  return *by;
}

/// A path of the config; `machine.` may be left out of `path`.
std::string full_path(const std::string& path) {
  const std::string_view machine = "machine";
  return path == machine || config::is_below(path, machine) ? path : config::join("machine", path);
}

/// Splits "a+b" into full paths, with elements by name.
std::vector<std::string> parts_of(const config::Json& root, const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('+', begin), path.size());
    parts.push_back(config::named(root, full_path(path.substr(begin, end - begin))));
    begin = end + 1;
  }
  return parts;
}

/// The keys at or below `path`. Throws UserError if there is none.
std::vector<Key> keys_at(const std::vector<Key>& keys, const std::string& path) {
  std::vector<Key> found = keys;
  std::erase_if(found, [&](const Key& key) {
    return key.number.path != path && !config::is_below(key.number.path, path);
  });
  if (!found.empty()) return found;
  const auto known = mapped(keys, [](const Key& key) { return key.number.path; });
  throw UserError(
      "tessera sensitivity: --key: found {}, allowed a key of the machine that is a number, or a "
      "group of them{}",
      path, config::did_you_mean(path, known));
}

/// The requested keys in the order of `keys`, then those varied together.
std::vector<Key> chosen(const std::vector<Key>& keys, const std::vector<std::string>& wanted,
                        const Config& base, double by, const Simulator& simulator) {
  if (wanted.empty()) return keys;
  std::set<std::string> alone;
  std::vector<Key> together;
  for (const std::string& each : wanted) {
    std::vector<config::NumberKey> joined;
    const std::vector<std::string> parts = parts_of(base.resolved, each);
    for (const std::string& part : parts)
      for (const Key& key : keys_at(keys, part)) {
        joined.push_back(key.number);
        if (parts.size() == 1) alone.insert(key.number.path);
      }
    if (parts.size() > 1)
      together.push_back(sensitivity::moved_key(base, std::move(joined), by, simulator.catalogue,
                                                simulator.machines));
  }
  std::vector<Key> found = keys;
  std::erase_if(found, [&](const Key& key) { return !alone.contains(key.number.path); });
  std::ranges::move(together, std::back_inserter(found));
  return found;
}

/// A config to answer, and the place of its answer.
struct Question {
  Answer* answer;
  std::function<Config()> config;
};

std::vector<Question> questions(const Config& base, sensitivity::Result& result,
                                const Simulator& simulator) {
  std::vector<Question> all;
  for (Key& key : result.keys) {
    for (End* const end : {&key.low, &key.high}) {
      if (!end->value) continue;
      all.push_back({&end->answer, [&base, &simulator, &key, value = *end->value] {
                       return sensitivity::config_at(base, key.number, value, simulator.catalogue,
                                                     simulator.machines, key.with);
                     }});
    }
  }
  return all;
}

void predict(const Config& base, sensitivity::Result& result, unsigned jobs, bool quiet,
             const Simulator& simulator) {
  Progress progress(quiet);
  progress.show("planning the config itself");
  const Forecast forecast = simulator.forecast(base);
  result.base = forecast(base);
  const std::vector<Question> all = questions(base, result, simulator);
  HostThreads threads(jobs);
  std::atomic<std::size_t> done{0};
  threads.for_ranges(all.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) *all[i].answer = forecast(all[i].config());
    const std::size_t now = ++done;
    if (begin % jobs == 0) progress.show(fmt::format("planning: {} of {} points", now, all.size()));
  });
}

Answer answer_of(const sweep::Result& result) {
  if (result.status != "done") return {fmt::format("{}: {}", result.status, result.error)};
  const config::Json& report = result.report;
  Answer answer;
  answer.plan = report.at("plan").dump();
  answer.problem = report.at("identity").at("problem").get<std::string>();
  answer.seconds = report.at("time").at("seconds").get<double>();
  if (report.contains("energy")) {
    answer.joules = report.at("energy").at("joules").get<double>();
    answer.mm2 = report.at("energy").at("area_mm2").at("total").get<double>();
  }
  return answer;
}

/// Returns false if it was interrupted.
bool simulate(const Config& base, sensitivity::Result& result, const std::string& folder,
              unsigned jobs, bool quiet, const Simulator& simulator) {
  std::vector<Question> all = questions(base, result, simulator);
  all.insert(all.begin(), {&result.base, [&] {
                             return config::read_config(base.layers, base.name, simulator.catalogue,
                                                        simulator.machines);
                           }});
  sweep::PointIds ids(sweep::program_identity());
  const sweep::FolderLock lock(folder, {"sweep", base.name}, ids.of(base));
  const sweep::Store store(folder);
  store.open();
  store.remove_leftovers();
  std::vector<std::string> names;
  std::vector<PointTask> tasks;
  for (const Question& each : all) {
    names.push_back(ids.of(each.config()));
    const bool known =
        store.find(names.back()).has_value() ||
        std::ranges::any_of(tasks, [&](const PointTask& task) { return task.id == names.back(); });
    if (!known) tasks.push_back({names.back(), each.config});
  }
  SweepProgress progress(base.name, tasks.size(), quiet);
  const bool completed =
      PointRunner(store, point_answer(sweep::Way::simulated, base, simulator), jobs)
          .run(tasks, progress);
  progress.clear();
  if (!completed) return false;
  for (std::size_t i = 0; i < all.size(); ++i)
    *all[i].answer = answer_of(*store.find_any(names[i]));
  return true;
}

/// Refuses to write beside the report of another run.
void refuse_other_run(const std::string& folder, const config::Json& identity) {
  const std::string file = (std::filesystem::path(folder) / "report.json").string();
  if (!std::filesystem::exists(file)) return;
  const config::Json report = config::parse_json(data::read_file(file), file);
  if (report.is_object() && report.contains("config") && report.at("config") == identity) return;
  throw UserError("{}: holds the report of another run; give another --out", folder);
}

/// Varies each numeric key of the config's machine, predicts or simulates the run, prints a table
/// and writes sensitivity.csv and sensitivity.json to the run's folder. Stores simulated runs as a
/// sweep does.
ExitCode sensitivity(const SensitivityRequest& request, const Simulator& simulator) {
  const double by = parse_factor(request.by);
  Config base = config::load_config(request.file, request.sets, simulator.catalogue,
                                    simulator.machines, {{}, request.seed});
  config::refuse_run_files(base);
  if (!request.out.empty()) base.report.out = request.out;
  const std::string folder = report::output_folder(base);
  sensitivity::Result result;
  result.of = config::identity(base.resolved);
  result.by = by;
  result.simulated = request.simulate;
  result.keys = chosen(sensitivity::moved_keys(base, by, simulator.catalogue, simulator.machines),
                       request.keys, base, by, simulator);
  report::require_writable(folder);
  refuse_other_run(folder, result.of);
  const NewFolder made(folder);
  remove_leftovers(folder);
  const unsigned jobs = jobs_or_cores(request.jobs);
  if (!request.simulate) {
    predict(base, result, jobs, request.quiet, simulator);
  } else if (!simulate(base, result, folder, jobs, request.quiet, simulator)) {
    tell("tessera sensitivity: interrupted; the same command goes on from here\n");
    return ExitCode::interrupted;
  }
  if (!result.base.error.empty()) throw UserError(result.base.error);
  result.heading =
      report::heading({{"config", result.of}, {"identity", {{"problem", result.base.problem}}}});
  sensitivity::sort(result);
  const auto file = [&](const char* name) {
    return (std::filesystem::path(folder) / name).string();
  };
  write_whole(file("sensitivity.csv"), sensitivity::csv(result));
  write_whole(file("sensitivity.json"), sensitivity::to_json(result).dump(1) + "\n");
  if (!request.quiet)
    fmt::print("{}\n  results   {}\n", sensitivity::table(result), file("sensitivity.csv"));
  return ExitCode::done;
}

}  // namespace

Command sensitivity_command(const Simulator& simulator) {
  const auto request = std::make_shared<SensitivityRequest>();
  return {"sensitivity",
          "show how time, energy and area of a run respond to each number of its machine",
          {{"CONFIG", &request->file, "the config file; - reads standard input", kRequired},
           set_option(&request->sets, simulator),
           {"--seed", &request->seed, "seed of data and generators"},
           {"--by", &request->by, "factor by which keys are divided and multiplied (default: 2)"},
           {"--key", &request->keys, "only this machine key or group; A+B: both changed together"},
           {"--simulate", &request->simulate, "simulate every point instead of predicting it"},
           {"--out", &request->out, "output folder (default: that of tessera run)"},
           {"--jobs", &request->jobs, "points run at a time (default: one per core)", !kRequired,
            kMostJobs},
           {"--quiet", &request->quiet, "print no table and no progress"}},
          [request, &simulator] { return sensitivity(*request, simulator); }};
}

}  // namespace tessera::command
