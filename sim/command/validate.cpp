#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/leftovers.h"
#include "sim/base/whole_file.h"
#include "sim/command/accuracy.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/progress.h"
#include "sim/command/validation_runs.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"
#include "sim/sweep/store.h"

namespace tessera::command {
namespace {

struct ValidateRequest {
  /// Names, or set files. Empty: all of configs/validation.
  std::vector<std::string> sets;
  bool quick = false;
  bool html = false;                 ///< also write a page of all sets
  std::vector<std::string> machine;  ///< "machine.x=8" of --set
  /// Folder of the CSV tables. Empty: `runs`, but none for sets of configs/validation.
  std::string out;
  unsigned jobs = 0;  ///< points at a time; 0: one per core
};

/// Prints the set's verdicts: accuracy, then regression.
ValidatedSet judged(const ValidationSet& set, std::vector<Row> rows, bool quick) {
  if (!set.why.empty()) fmt::print("  why: {}\n", set.why);
  fmt::print("  evidence: {}: {}\n", kind_of(set.evidence).name, kind_of(set.evidence).meaning);
  if (!set.changed.empty()) {
    fmt::print("  neither accuracy nor regression is judged: --set changes the machine\n");
    return {&set, std::move(rows), std::nullopt};
  }
  if (quick && rows.size() < set.points.size())
    fmt::print("  quick: {} of {} points; what compares all points is not judged\n", rows.size(),
               set.points.size());
  const std::optional<bool> reproduces = judge_accuracy(set, rows, quick);
  if (!reproduces)
    fmt::print("  accuracy: not judged: {}\n", kind_of(set.evidence).gate.asks()
                                                   ? "nothing published among these points"
                                                   : "its kind of evidence has no gate");
  if (reproduces == false) fmt::print("  does not reproduce what is published\n");
  if (!set.shortfall.empty())
    fmt::print("  shortfall{}: {}\n",
               reproduces == true ? ", of which these points show nothing" : "", set.shortfall);
  if (set.unexplained.given) fmt::print("  unexplained: {}\n", set.unexplained.what);
  const bool as_recorded = judge_regression(set, rows, quick);
  return {&set, std::move(rows), reproduces, as_recorded};
}

/// The set's rows and verdicts; no rows if none of its points is marked quick.
ValidatedSet validate_set(const ValidationSet& set, const ValidateRequest& request,
                          const std::string& folder, const Simulator& simulator) {
  ValidationRuns runs(set, request.quick, folder, simulator);
  if (runs.empty()) {
    fmt::print("{}: none of its points is marked quick\n", set.name);
    return {&set, {}, std::nullopt};
  }
  print_heading(set);
  if (!folder.empty()) {
    create_folder(folder);
    const sweep::Store store(folder);
    store.open();
    store.remove_leftovers();
  }
  const unsigned jobs = jobs_or_cores(request.jobs);
  SweepProgress progress(set.name, runs.size(), false);
  std::vector<Row> rows = runs.run(
      jobs,
      [&](const Row& row) {
        progress.clear();
        print_row(row);
      },
      [&](std::size_t ended) {
        progress.count_to(ended);
        progress.show();
      });
  progress.clear();
  if (!folder.empty()) {
    // Partial tables, or those of another machine, do not replace the full one.
    const bool some = rows.size() < set.points.size();
    const std::string file = fmt::format("{}/{}{}{}.csv", folder, set.name, some ? "-quick" : "",
                                         set.changed.empty() ? "" : "-set");
    write_whole(file, table_csv(set, rows));
    fmt::print("  table: {}\n", file);
  }
  return judged(set, std::move(rows), request.quick);
}

bool is_file(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".jsonc") || name.find('/') != std::string::npos;
}

/// A requested set and its table's folder; empty for sets of the gates: no table.
struct RequestedSet {
  ValidationSet set;
  std::string folder;
};

/// The set of that name, or all whose names continue it with _.
std::vector<RequestedSet> sets_named(const std::string& name, const ValidateRequest& request,
                                     const Simulator& simulator) {
  const std::string folder = request.out.empty() ? "runs" : request.out;
  if (is_file(name)) {
    const std::string text = config::read_text(name);
    const std::string stem = std::filesystem::path(name).stem().string();
    return {{read_validation_set({stem, text}, name), folder}};
  }
  std::vector<RequestedSet> exact, longer;
  const auto look = [&](config::Presets presets, const std::string& out) {
    for (const config::Preset& preset : presets) {
      if (preset.name == name) exact.push_back({read_validation_set(preset), out});
      if (preset.name.starts_with(name + "_")) longer.push_back({read_validation_set(preset), out});
    }
  };
  look(simulator.validation, request.out);
  look(simulator.papers, folder);
  if (!exact.empty() || !longer.empty()) return exact.empty() ? longer : exact;
  std::vector<std::string_view> names;
  for (const config::Preset& preset : simulator.validation) names.push_back(preset.name);
  for (const config::Preset& preset : simulator.papers) names.push_back(preset.name);
  std::vector<std::string_view> known = names;  // and their common beginnings
  for (const std::string_view each : names)
    for (std::size_t at = each.find('_'); at != each.npos; at = each.find('_', at + 1))
      known.push_back(each.substr(0, at));
  throw UserError("tessera validate: found {}, allowed {}, or a file{}", name,
                  config::list_of(names), config::did_you_mean(name, known));
}

void write_page(const std::vector<ValidatedSet>& sets, const ValidateRequest& request) {
  const std::filesystem::path folder = request.out.empty() ? "runs" : request.out;
  create_folder(folder.string());
  remove_leftovers(folder);
  write_whole(folder / "validation.html", validation_page(sets));
  fmt::print("page: {}\n", (folder / "validation.html").string());
}

/// Applies `machine`, assignments of --set, to each config of the set. Throws UserError for keys
/// outside the machine, and for keys in which the set's points differ.
void change(ValidationSet& set, const std::vector<std::string>& machine,
            const Simulator& simulator) {
  const auto is_part = [](std::string_view key, std::string_view path) {
    return key == path || config::is_below(key, path);
  };
  for (const std::string& each : machine) {
    const std::string path = each.substr(0, each.find('='));
    if (!is_part(path, "machine"))
      throw UserError("tessera validate: --set: found {}, allowed keys of the machine", path);
    for (ValidationPoint& point : set.points) {
      bool own = is_part(point.best.over, path);
      for (const auto& item : point.set.items()) own |= is_part(item.key(), path);
      if (own)
        throw UserError("tessera validate: --set: {}: the points of {} differ in it", path,
                        set.name);
      point.recorded = false;
    }
  }
  if (machine.empty()) return;
  set.changed = machine;
  set.title += fmt::format(", with {}", fmt::join(machine, " "));
  static_cast<void>(point_config(set, set.points.front(), simulator.catalogue, simulator.machines));
}

/// Simulates the points of validation sets, one process each, and prints published beside simulated
/// numbers. Returns check_failed if results differ from the recorded ones, or if a set misses the
/// published numbers without a stated shortfall.
ExitCode validate(const ValidateRequest& request, const Simulator& simulator) {
  std::vector<RequestedSet> wanted;
  for (const std::string& name : request.sets) {
    std::ranges::move(sets_named(name, request, simulator), std::back_inserter(wanted));
  }
  if (request.sets.empty()) {
    for (const config::Preset& preset : simulator.validation) {
      wanted.push_back({read_validation_set(preset), request.out});
    }
  }
  bool passed = true;
  std::vector<ValidatedSet> validated;
  for (RequestedSet& each : wanted) change(each.set, request.machine, simulator);
  for (const RequestedSet& each : wanted) {
    ValidatedSet set = validate_set(each.set, request, each.folder, simulator);
    passed &= set.passed();
    if (!set.rows.empty()) validated.push_back(std::move(set));
  }
  const bool judges = request.machine.empty();
  if (judges) print_totals(validated);
  if (judges && !request.out.empty())
    write_whole(std::filesystem::path(request.out) / "totals.csv", totals_csv(validated));
  if (request.html) write_page(validated, request);
  return passed ? ExitCode::done : ExitCode::check_failed;
}

}  // namespace

Command validate_command(const Simulator& simulator) {
  const auto request = std::make_shared<ValidateRequest>();
  return {
      "validate",
      "compare simulated numbers with published ones",
      {choosing({"SET", &request->sets,
                 "sets as listed by `tessera list sets`, a common prefix of several before _, or "
                 "files of the same form (default: all sets except those selected by name alone)"},
                [&simulator] {
                  std::vector<std::string> names = names_of(simulator.validation);
                  for (const std::string& name : names_of(simulator.papers)) names.push_back(name);
                  return names;
                }),
       with_keys(
           {"--set", &request->machine,
            "machine.KEY=value: change the machine of all points; results are then not judged"},
           simulator),
       {"--out", &request->out,
        "folder for CSV tables and finished points, which a repeated command reuses (default: "
        "runs, for figures of papers and files)"},
       {"--html", &request->html,
        "also write one page of all sets: validation.html in the folder of --out, or in runs"},
       {"--quick", &request->quick, "run only the points marked quick"},
       {"--jobs", &request->jobs, "points run at a time (default: one per core)", !kRequired,
        kMostJobs}},
      [request, &simulator] { return validate(*request, simulator); }};
}

}  // namespace tessera::command
