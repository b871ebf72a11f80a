#include "sim/command/sweep.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "sim/base/stopwatch.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/point_runner.h"
#include "sim/command/progress.h"
#include "sim/command/sweep_progress.h"
#include "sim/command/sweep_summary.h"
#include "sim/sweep/folder_lock.h"
#include "sim/sweep/slurm.h"
#include "sim/sweep/tables.h"

namespace tessera::command {
namespace {

using sweep::Point;
using sweep::Store;

struct Shard {
  std::size_t number = 1, count = 1;
};

Shard parse_shard(const std::string& text) {
  Shard shard;
  const auto number = [&](const char* begin, std::size_t& value) {
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    return error == std::errc() ? end : nullptr;
  };
  const char* const slash = number(text.data(), shard.number);
  const char* const end =
      slash != nullptr && *slash == '/' ? number(slash + 1, shard.count) : nullptr;
  if (end != text.data() + text.size() || shard.number < 1 || shard.number > shard.count) {
    throw UserError(fmt::format(
        "tessera sweep: --shard: found {}, allowed i/n with i from 1 to n, for example 2/8", text));
  }
  return shard;
}

/// The first point of each id that has no result yet.
std::vector<const Point*> missing(const std::vector<Point>& points, const Shard& shard,
                                  const Store& store) {
  std::vector<const Point*> found;
  std::set<std::string> seen;
  for (const Point& point : points) {
    if (point.index % shard.count != shard.number - 1) continue;
    if (seen.insert(point.id).second && !store.find(point.id)) found.push_back(&point);
  }
  return found;
}

/// Names the files of points that run again because theirs cannot be used.
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

/// Says how far it is, ten times a second at most.
std::vector<Point> points_of(const sweep::Sweep& sweep, sweep::PointIds& ids, bool quiet) {
  constexpr double kAtLeast = 0.1;
  Progress progress(quiet);
  const Stopwatch watch;
  double shown_at = 0;
  return sweep.points(ids, [&](std::size_t done, std::size_t all) {
    const double now = watch.seconds();
    if (now - shown_at < kAtLeast) return;
    shown_at = now;
    progress.show(fmt::format("{}: reading {} of {} points", sweep.name(), done, all));
  });
}

/// The results of the shard's points by what became of them.
SweepSummary summary_of(const sweep::Sweep& sweep, const std::vector<Point>& points,
                        const Shard& shard, const Store& store) {
  SweepSummary summary;
  for (const Point& point : points) {
    if (point.index % shard.count != shard.number - 1) continue;
    summary.add(store.find_any(point.id), [&] { return sweep.name_of(point); });
  }
  return summary;
}

void print_summary(const SweepSummary& summary, const SweepRequest& request,
                   const std::string& name, std::size_t ran) {
  const bool is_whole = request.shard.empty();
  summary.print(is_whole ? name : name + " shard " + request.shard, ran);
  if (is_whole) fmt::print("  results   {}/results.csv, results.jsonl\n", request.out);
}

sweep::SlurmJob slurm_job(const SweepRequest& request) {
  return {request.file,   request.axes,  request.sets, request.out, std::max(1U, request.jobs),
          request.shards, request.sbatch};
}

void submit_to_slurm(const sweep::SlurmJob& job, std::size_t points) {
  const sweep::Submitted submitted = sweep::submit(job, points);
  fmt::print("{} points in {} tasks of job {}; job {} collects them into {}/results.csv\n", points,
             submitted.tasks, submitted.array_job, submitted.collecting_job, job.out);
}

}  // namespace

ExitCode sweep(const SweepRequest& request, const Simulator& simulator) {
  const Shard shard = request.shard.empty() ? Shard() : parse_shard(request.shard);
  if (request.slurm) sweep::require_slurm(slurm_job(request));
  const sweep::Sweep sweep(request.file, request.axes, request.sets, simulator.catalogue,
                           simulator.machines);
  sweep::PointIds ids(sweep::program_identity());
  const std::vector<Point> points = points_of(sweep, ids, request.quiet);
  report::require_writable(request.out);
  const bool is_whole = request.shard.empty();
  const NewFolder folder(request.out);
  const sweep::FolderLock lock(request.out, {"sweep", sweep.name()}, sweep::identity_of(points),
                               request.slurm || !is_whole);
  const Store store(request.out);
  store.open();
  store.remove_leftovers();
  if (!request.replace) sweep::refuse_replacing(request.out, sweep, points);
  sweep::write_points(request.out, sweep, points);
  if (request.slurm) {
    submit_to_slurm(slurm_job(request), points.size());
    return ExitCode::done;
  }
  const std::vector<const Point*> wanted = missing(points, shard, store);
  tell_damage(wanted, store);
  const unsigned jobs =
      request.jobs > 0 ? request.jobs : std::max(1U, std::thread::hardware_concurrency());
  SweepProgress progress(sweep.name(), wanted.size(), request.quiet);
  std::vector<PointTask> tasks;
  tasks.reserve(wanted.size());
  for (const Point* point : wanted)
    tasks.push_back({point->id, [&sweep, point] { return sweep.config(*point); }});
  const bool completed = PointRunner(store, simulator, jobs).run(tasks, progress);
  progress.clear();
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
  return {
      "sweep",
      "run a config at many points, on many cores or a cluster",
      {{"CONFIG", &request->file, "the config file, which may have a section sweep", kRequired},
       with_keys(
           {"AXIS", &request->axes, "path=a,b,c or path=low..high*factor or path=low..high+step"},
           simulator),
       set_option(&request->sets, simulator),
       {"--out", &request->out, "folder of the results; done points there stay", kRequired},
       {"--jobs", &request->jobs, "points at a time (default: one a core)", !kRequired, kMostJobs},
       {"--shard", &request->shard, "i/n: only every n-th point, from the i-th on"},
       {"--slurm", &request->slurm, "submit to Slurm: an array job, one that collects"},
       {"--shards", &request->shards, "tasks of the array (default: one for 50 points)", !kRequired,
        kMostShards},
       {"--sbatch", &request->sbatch, "further options of sbatch, in one text"},
       {"--strict", &request->strict, "end with an error if any point has no result"},
       {"--replace", &request->replace, "write over the tables of another sweep in --out"},
       {"--quiet", &request->quiet, "no summary and no progress"}},
      [request, &simulator] { return sweep(*request, simulator); }};
}

}  // namespace tessera::command
