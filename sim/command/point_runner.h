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

/// Runs a config. Whatever goes wrong is in the result; never throws.
sweep::Result run_point(const config::Config& config, const Simulator& simulator);

/// As above, but builds the config in this process and runs it in a child, which may die.
sweep::Result run_point_in_child(const config::Config& config, const Simulator& simulator);

/// The result of a point whose process has died.
sweep::Result died(const Children::Finished& finished, config::Json seed);

/// Runs a config whose run.values is false, after `again`, the same with values: of status defect
/// if the two differ in what a timing run says, wrong if the values are.
sweep::Result run_point_twice(const config::Config& config,
                              const std::function<config::Config()>& again,
                              const Simulator& simulator);

/// Predicts the result of the config from its plan: status predicted. `forecast` takes this config
/// or one like it. Never throws.
sweep::Result predict_point(const config::Config& config, const Forecast& forecast);

/// Returns the result of a point.
using PointAnswer = std::function<sweep::Result(const config::Config&)>;

/// A config to run, and the id that its result is stored by.
struct PointTask {
  std::string id;
  std::function<config::Config()> config;
  PointAnswer answer = {};  ///< instead of the runner's
  std::size_t group = 0;    ///< points of one follow each other, and share what they can
};

/// Simulating, or predicting as `simulator` does of `first` and of configs that are like it. May
/// take as long as to plan `first`.
PointAnswer point_answer(sweep::Way way, const config::Config& first, const Simulator& simulator);

/// The seed that a result is reported with: of the workload's data, else of the run.
config::Json seed_of(const config::Json& resolved);

/// Runs points in processes until none is left or a signal comes.
class PointRunner {
 public:
  PointRunner(const sweep::Store& store, PointAnswer answer, unsigned jobs)
      : store_(store), answer_(std::move(answer)), jobs_(jobs) {}

  /// False if it was interrupted.
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
  std::deque<std::size_t> alone_;       ///< each of these with nothing beside it, after all others
  std::set<std::string> again_;         ///< ids of points that died once
  std::multiset<std::size_t> in_hand_;  ///< groups of points that are being answered
};

}  // namespace tessera::command
