#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "sim/base/children.h"
#include "sim/command/progress.h"
#include "sim/command/simulator.h"
#include "sim/sweep/point_ids.h"
#include "sim/sweep/store.h"

namespace tessera::command {

/// Runs a config. All errors become part of the result; never throws.
sweep::Result run_point(const config::Config& config, const Simulator& simulator);

/// As run_point(), but builds in this process and runs in a child, which may die.
sweep::Result run_point_in_child(const config::Config& config, const Simulator& simulator);

/// The result of a point whose child process died.
sweep::Result died(const Children::Finished& finished, config::Json seed);

/// Runs a config with run.values false, after `again`, the same config with values. Status `defect`
/// if their reports differ in more than values, `wrong` if the check of the values failed.
sweep::Result run_point_twice(const config::Config& config,
                              const std::function<config::Config()>& again,
                              const Simulator& simulator);

/// Predicts the config's result from its plan; status `predicted`. `forecast` must come from this
/// config or a similar one. Never throws.
sweep::Result predict_point(const config::Config& config, const Forecast& forecast);

/// Returns the result of a point.
using PointAnswer = std::function<sweep::Result(const config::Config&)>;

/// A config to run, and the id of its stored result.
struct PointTask {
  std::string id;
  std::function<config::Config()> config;
  PointAnswer answer = {};  ///< replaces the runner's answer, if set
  std::size_t group = 0;    ///< points of one group run in sequence and share plans
};

/// An answer by simulation, or by prediction for `first` and similar configs. May take the time of
/// planning `first`.
PointAnswer point_answer(sweep::Way way, const config::Config& first, const Simulator& simulator);

/// The seed that a result reports: the workload's, else the run's.
config::Json seed_of(const config::Json& resolved);

/// Runs points in child processes until none is left or a signal arrives.
class PointRunner {
 public:
  PointRunner(const sweep::Store& store, PointAnswer answer, unsigned jobs)
      : store_(store), answer_(std::move(answer)), jobs_(jobs) {}

  /// Returns false if it was interrupted.
  bool run(std::span<const PointTask> points, SweepProgress& progress);

 private:
  std::deque<std::size_t>* startable(std::size_t running);
  [[nodiscard]] std::size_t take(std::deque<std::size_t>& queue, std::span<const PointTask> points,
                                 std::optional<std::size_t> last);
  [[nodiscard]] std::string answer(const PointTask& point) const;
  void finish(const PointTask& point, const Children::Finished& finished, SweepProgress& progress);

  const sweep::Store& store_;
  PointAnswer answer_;
  unsigned jobs_;
  std::deque<std::size_t> waiting_;
  std::deque<std::size_t> alone_;       ///< run one at a time, after all others
  std::set<std::string> again_;         ///< ids of points that have been retried
  std::multiset<std::size_t> in_hand_;  ///< groups of running points
};

}  // namespace tessera::command
