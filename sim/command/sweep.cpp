#include "sim/command/sweep.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/ranges.h"
#include "sim/base/sizes.h"
#include "sim/base/stopwatch.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/point_runner.h"
#include "sim/command/progress.h"
#include "sim/command/sweep_summary.h"
#include "sim/report/units.h"
#include "sim/sweep/folder_lock.h"
#include "sim/sweep/slurm.h"
#include "sim/sweep/tables.h"

namespace tessera::command {
namespace {

using sweep::Point;
using sweep::Store;

sweep::Way way_of(const SweepRequest& request) {
  return request.predict ? sweep::Way::predicted : sweep::Way::simulated;
}

struct Shard {
  std::size_t number = 1, count = 1;

  [[nodiscard]] bool has(const Point& point) const { return point.index % count == number - 1; }
};

Shard parse_shard(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = number_in<std::size_t>(text.substr(0, slash));
  const auto count = number_in<std::size_t>(text.substr(std::min(slash + 1, text.size())));
  if (!number || !count || *number < 1 || *number > *count) {
    throw UserError(
        "tessera sweep: --shard: found {}, allowed i/n with i from 1 to n, for example 2/8", text);
  }
  return {*number, *count};
}

/// Up to this many points are simulated without asking.
inline constexpr std::size_t kMostUnasked = 1000;

/// The first letter of a line of standard input; a newline at its end.
char first_letter() {
  std::array<char, 64> line{};
  return std::fgets(line.data(), static_cast<int>(line.size()), stdin) == nullptr ? '\n' : line[0];
}

/// Asks the terminal before simulating more than kMostUnasked points. Throws UserError if the
/// answer is not yes or if there is no terminal.
void require_yes(const std::string& name, std::size_t points) {
  if (points <= kMostUnasked) return;
  const std::string count = report::grouped(points);
  const std::string most = report::grouped(kMostUnasked);
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1)
    throw UserError(
        "tessera sweep: {}: found {} points to simulate, allowed {} unless --yes is given; "
        "--dry-run lists them, --predict plans them only",
        name, count, most);
  tell(fmt::format("{}: simulate {} points? [y/N] ", name, count));
  const char answer = first_letter();
  if (answer == 'y' || answer == 'Y') return;
  throw UserError("tessera sweep: not confirmed: nothing was run; --dry-run lists the points");
}

/// The first point of each id without a result.
std::vector<const Point*> missing(const std::vector<Point>& points, const Shard& shard,
                                  const Store& store) {
  std::vector<const Point*> found;
  std::set<std::string> seen;
  for (const Point& point : points) {
    if (!shard.has(point)) continue;
    if (seen.insert(point.id).second && !store.find(point.id)) found.push_back(&point);
  }
  return found;
}

/// Names damaged result files, whose points run again.
void tell_damage(const std::vector<const Point*>& wanted, const Store& store) {
  constexpr std::size_t kMost = 10;
  std::size_t damaged = 0;
  for (const Point* point : wanted) {
    const std::string damage = store.damage(point->id);
    if (damage.empty()) continue;
    if (++damaged <= kMost) tell(damage + "; the point runs again\n");
  }
  if (damaged > kMost) tell(fmt::format("and {} files more\n", damaged - kMost));
}

/// The sweep's points; shows progress at most ten times a second.
std::vector<Point> points_of(const sweep::Sweep& sweep, const SweepRequest& request,
                             const sweep::Sweep::Refused& refused = {}) {
  sweep::PointIds ids(sweep::program_identity(way_of(request)));
  Progress progress(request.quiet);
  const auto looked = [&](std::size_t done, std::size_t all) {
    if (progress.is_due())
      progress.show(fmt::format("{}: reading {} of {} points", sweep.name(), done, all));
  };
  return sweep.points(ids, looked, refused);
}

/// Summarises the results of the shard's points by status.
SweepSummary summary_of(const sweep::Sweep& sweep, const std::vector<Point>& points,
                        const Shard& shard, const Store& store) {
  SweepSummary summary(sweep.axes());
  for (const Point& point : points) {
    if (!shard.has(point)) continue;
    summary.add(store.find_any(point.id), [&] { return sweep.name_of(point); });
  }
  return summary;
}

void print_summary(const SweepSummary& summary, const SweepRequest& request,
                   const std::string& name, std::size_t ran) {
  const bool is_whole = request.shard.empty();
  summary.print(is_whole ? name : name + " shard " + request.shard, ran, way_of(request));
  if (is_whole) fmt::print("  results   {}/results.csv, results.jsonl\n", request.out);
}

/// The given `--set` values and the one that --timing stands for.
std::vector<std::string> sets_of(const SweepRequest& request) {
  OptionSets sets(request.sets);
  if (request.timing) sets.add("--timing", "run.values", "false");
  return sets.all();
}

sweep::SlurmJob slurm_job(const SweepRequest& request) {
  return {request.file,   request.axes,  sets_of(request), request.out, std::max(1U, request.jobs),
          request.shards, request.sbatch};
}

void submit_to_slurm(const sweep::SlurmJob& job, std::size_t points) {
  const sweep::Submitted submitted = sweep::submit(job, points);
  fmt::print("{} points in {} tasks of job {}; job {} collects them into {}/results.csv\n", points,
             submitted.tasks, submitted.array_job, submitted.collecting_job, job.out);
}

void refuse_contradictions(const SweepRequest& request) {
  if (request.out.empty() && !request.dry_run)
    throw UserError("tessera sweep: --out is required; see tessera sweep --help");
  if (request.slurm && request.predict)
    throw UserError(
        "tessera sweep: --predict: found beside --slurm, allowed without: plans are "
        "made here");
  if (request.timing && request.predict)
    throw UserError("tessera sweep: --timing: found beside --predict, which runs nothing");
  if (request.compute_every > 0 && (!request.timing || request.slurm))
    throw UserError(
        "tessera sweep: --compute-every: found {} --timing{}", request.timing ? "with" : "without",
        request.timing ? " beside --slurm, allowed without --slurm" : ", allowed with it");
  const char* of_slurm = request.shards > 0        ? "--shards"
                         : !request.sbatch.empty() ? "--sbatch"
                                                   : nullptr;
  if (of_slurm != nullptr && !request.slurm)
    throw UserError("tessera sweep: {}: found without --slurm, allowed with it", of_slurm);
}

/// Refuses options that set an axis of the sweep.
void refuse_axes(const SweepRequest& request, const sweep::Sweep& sweep) {
  if (request.timing && contains(sweep.axes(), std::string("run.values")))
    throw UserError(
        "tessera sweep: --timing: found beside the axis run.values, allowed one of them");
  for (const std::string& assignment : request.sets) {
    const std::string path = assignment.substr(0, assignment.find('='));
    if (sweep.always_varies(path))
      throw UserError("tessera sweep: --set {}: found beside the axis {}, allowed one of them",
                      assignment, path);
  }
}

/// A number per point; points with the same number may share plans: they differ only in the SRAM of
/// their tiles.
std::vector<std::size_t> groups_of(const std::vector<const Point*>& points,
                                   const sweep::Sweep& sweep) {
  std::map<std::string, std::size_t> numbers;
  return mapped(points, [&](const Point* point) {
    config::Json axes = sweep.axes_of(*point);
    axes.erase("machine.tile.sram_kib");
    return numbers.try_emplace(fmt::format("{} {}", point->part, axes.dump()), numbers.size())
        .first->second;
  });
}

/// Answers the wanted points and stores the answers. False if it was interrupted.
bool answer(const std::vector<const Point*>& wanted, const sweep::Sweep& sweep, const Store& store,
            const SweepRequest& request, const Simulator& simulator, SweepProgress& progress) {
  if (wanted.empty()) return true;
  const unsigned jobs = jobs_or_cores(request.jobs);
  const unsigned every = request.compute_every;
  std::vector<PointTask> tasks = mapped(wanted, [&, every](const Point* point) {
    PointTask task{point->id, [&sweep, point] { return sweep.config(*point); }};
    if (every > 0 && point->index % every == 0)
      task.answer = [config = task.config, &simulator](const config::Config& timing) {
        return run_point_twice(timing, config, simulator);
      };
    return task;
  });
  const std::vector<std::size_t> groups = groups_of(wanted, sweep);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].group = groups[i];
  std::ranges::stable_sort(tasks, {}, &PointTask::group);
  progress.show();
  const PointAnswer answer =
      point_answer(way_of(request), sweep.config(*wanted.front()), simulator);
  const bool completed = PointRunner(store, answer, jobs).run(tasks, progress);
  progress.clear();
  return completed;
}

/// Prints the shard's points with their stored status, and the refused ones.
ExitCode dry_run(const sweep::Sweep& sweep, const Shard& shard, const SweepRequest& request) {
  std::vector<std::string> refused;
  const std::vector<Point> points =
      points_of(sweep, request, [&](const UserError& why) { refused.emplace_back(why.what()); });
  const Store store(request.out);
  std::map<std::string, std::size_t> states;
  for (const Point& point : points) {
    if (!shard.has(point)) continue;
    const auto known = request.out.empty() ? std::nullopt : store.find(point.id);
    const std::string state = known ? known->status : "to do";
    ++states[state];
    const std::string name = sweep.name_of(point);
    fmt::print("{:<9} {} {}\n", state, point.id, name.empty() ? "the config itself" : name);
  }
  for (const std::string& why : refused) fmt::print("refused   {}\n", why);
  std::string parts;
  for (const auto& [state, count] : states) parts += fmt::format(", {} {}", count, state);
  if (!refused.empty()) parts += fmt::format(", {} refused", refused.size());
  fmt::print("{}: {}{}; nothing was run or written\n", sweep.name(),
             counted(points.size() + refused.size(), "point"), parts);
  if (refused.empty()) return ExitCode::done;
  tell(fmt::format("tessera sweep: {} refused: the sweep would not begin\n",
                   counted(refused.size(), "point")));
  return ExitCode::user_error;
}

}  // namespace

ExitCode sweep(const SweepRequest& request, const Simulator& simulator) {
  refuse_contradictions(request);
  const Shard shard = request.shard.empty() ? Shard() : parse_shard(request.shard);
  if (request.slurm) sweep::require_slurm(slurm_job(request));
  const sweep::Sweep sweep(request.file, request.axes, sets_of(request), simulator.catalogue,
                           simulator.machines);
  refuse_axes(request, sweep);
  if (request.dry_run) return dry_run(sweep, shard, request);
  const std::vector<Point> points = points_of(sweep, request);
  report::require_writable(request.out);
  const Store store(request.out);
  if (!request.yes && !request.predict && points.size() > kMostUnasked)
    require_yes(sweep.name(), missing(points, shard, store).size());
  const bool is_whole = request.shard.empty();
  const NewFolder folder(request.out);
  const sweep::FolderLock lock(request.out, {"sweep", sweep.name()}, sweep::identity_of(points),
                               request.slurm || !is_whole);
  store.open();
  store.remove_leftovers();
  if (!request.replace) sweep::refuse_replacing(request.out, sweep, points, way_of(request));
  sweep::write_points(request.out, sweep, points, way_of(request));
  if (request.slurm) {
    submit_to_slurm(slurm_job(request), points.size());
    return ExitCode::done;
  }
  const std::vector<const Point*> wanted = missing(points, shard, store);
  tell_damage(wanted, store);
  SweepProgress progress(sweep.name(), wanted.size(), request.quiet);
  const bool completed = answer(wanted, sweep, store, request, simulator, progress);
  if (is_whole) sweep::write_results(request.out, sweep, points, store);
  if (is_whole && completed) store.remove_leftovers();
  const SweepSummary summary = summary_of(sweep, points, shard, store);
  if (!request.quiet) print_summary(summary, request, sweep.name(), progress.counted());
  if (completed) return summary.exit_code(request.strict);
  tell("tessera sweep: interrupted; the same command goes on from here\n");
  return ExitCode::interrupted;
}

Command sweep_command(const Simulator& simulator) {
  const auto request = std::make_shared<SweepRequest>();
  constexpr int kMostShards = 100'000;
  constexpr int kMostPoints = 1'000'000;
  return {
      "sweep",
      "run a config at many points, on all cores or on a cluster",
      {{"CONFIG", &request->file, "the config file, which may have a section `sweep`", kRequired},
       with_keys(
           {"AXIS", &request->axes, "path=a,b,c or path=low..high*factor or path=low..high+step"},
           simulator),
       set_option(&request->sets, simulator),
       {"--out", &request->out,
        "output folder; finished points in it are kept (required except with --dry-run)"},
       {"--predict", &request->predict, "plan each point and predict its time; no simulation"},
       {"--timing", &request->timing,
        "timing run: cycles, traffic and energy, but no values and no check (run.values)"},
       {"--compute-every", &request->compute_every,
        "with --timing: also compute and check the values of every n-th point", !kRequired,
        kMostPoints},
       {"--dry-run", &request->dry_run,
        "list the points, those done in --out and those refused; run and write nothing"},
       {"--yes", &request->yes, "simulate more than 1,000 points without confirmation"},
       {"--jobs", &request->jobs, "points run at a time (default: one per core)", !kRequired,
        kMostJobs},
       {"--shard", &request->shard, "i/n: only every n-th point, starting with the i-th"},
       {"--slurm", &request->slurm,
        "submit to Slurm: an array job, and a job that collects its results"},
       {"--shards", &request->shards, "number of array tasks (default: one per 50 points)",
        !kRequired, kMostShards},
       {"--sbatch", &request->sbatch, "further options of sbatch, as one string"},
       {"--strict", &request->strict, "exit with an error if any point has no result"},
       {"--replace", &request->replace, "overwrite the tables of another sweep in --out"},
       {"--quiet", &request->quiet, "print no summary and no progress"}},
      [request, &simulator] { return sweep(*request, simulator); }};
}

}  // namespace tessera::command
