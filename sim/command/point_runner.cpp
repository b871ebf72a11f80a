#include "sim/command/point_runner.h"

#include <algorithm>
#include <thread>

#include "sim/base/host_limit.h"
#include "sim/command/interruption.h"

namespace tessera::command {
namespace {

constexpr const char* kStarved = "starved";

}  // namespace

bool PointRunner::run(std::span<const PointTask> points, SweepProgress& progress) {
  const Interruption interruption;
  Children children;
  for (std::size_t i = 0; i < points.size(); ++i) waiting_.push_back(i);
  while (!waiting_.empty() || !alone_.empty() || children.running() > 0) {
    while (std::deque<std::size_t>* const queue = startable(children.running())) {
      children.start(queue->front(), [&](std::size_t i) { return answer(points[i]); });
      queue->pop_front();
    }
    constexpr int kTenTimesASecond = 100;
    for (const auto& finished : children.wait(kTenTimesASecond, -1, interruption.let_through())) {
      finish(points[finished.item], finished, progress);
    }
    progress.show();
    if (interruption.came()) return false;
  }
  return true;
}

/// From which a point may start beside so many that run; null: none.
std::deque<std::size_t>* PointRunner::startable(std::size_t running) {
  if (!waiting_.empty()) return running < jobs_ ? &waiting_ : nullptr;
  return running == 0 && !alone_.empty() ? &alone_ : nullptr;
}

/// In a child: the result goes to the store, its status to the parent; of one that starved the
/// message too.
std::string PointRunner::answer(const PointTask& point) const {
  config::Config config = point.config();
  // All cores are in use already.
  if (config.run.threads == 0) {
    config.run.threads = std::max(1U, std::thread::hardware_concurrency() / jobs_);
  }
  sweep::Result result = answer_(config);
  try {
    if (result.status != kStarved) store_.put(point.id, result);
  } catch (const HostLimit& error) {
    result = {kStarved, error.what(), nullptr, nullptr};
  }
  return result.status == kStarved ? kStarved + (" " + result.error) : result.status;
}

void PointRunner::finish(const PointTask& point, const Children::Finished& finished,
                         SweepProgress& progress) {
  const bool told = finished.text.starts_with(kStarved);
  if (finished.death.empty() && !told) {
    progress.count(finished.text);
    return;
  }
  // Once more, when it has the host to itself: others may have taken its memory.
  if (again_.insert(point.id).second) {
    alone_.push_back(finished.item);
    return;
  }
  const std::string status = told || finished.starved ? kStarved : "died";
  const std::string error =
      told ? finished.text.substr(status.size() + 1) : "the simulation died: " + finished.death;
  store_.put(point.id, {status, error, seed_of(point.config().resolved), nullptr});
  progress.count(status);
}

}  // namespace tessera::command
