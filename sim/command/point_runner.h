#pragma once

#include <deque>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "sim/base/children.h"
#include "sim/command/point_run.h"
#include "sim/command/sweep_progress.h"
#include "sim/sweep/store.h"

namespace tessera::command {

/// A config to run, and the id that its result is stored by.
struct PointTask {
  std::string id;
  std::function<config::Config()> config;
};

/// Runs points in processes until none is left or a signal comes.
class PointRunner {
 public:
  PointRunner(const sweep::Store& store, PointAnswer answer, unsigned jobs)
      : store_(store), answer_(std::move(answer)), jobs_(jobs) {}

  /// False if it was interrupted.
  bool run(std::span<const PointTask> points, SweepProgress& progress);

 private:
  std::deque<std::size_t>* startable(std::size_t running);
  [[nodiscard]] std::string answer(const PointTask& point) const;
  void finish(const PointTask& point, const Children::Finished& finished, SweepProgress& progress);

  const sweep::Store& store_;
  PointAnswer answer_;
  unsigned jobs_;
  std::deque<std::size_t> waiting_;
  std::deque<std::size_t> alone_;  ///< each of these with nothing beside it, after all others
  std::set<std::string> again_;    ///< ids of points that died once
};

}  // namespace tessera::command
