#include "sim/command/point_runner.h"

#include <algorithm>
#include <csignal>
#include <thread>

#include "sim/base/host_limit.h"
#include "sim/report/report.h"

namespace tessera::command {
namespace {

constexpr const char* kStarved = "starved";
constexpr const char* kDied = "died";

// The only state that signal handlers touch.
volatile std::sig_atomic_t came_ = 0;

void notice(int /*signal*/) { came_ = 1; }

/// During its lifetime, SIGINT and SIGTERM are recorded instead of ending the process; they are
/// delivered only during a wait with let_through().
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  [[nodiscard]] bool came() const;
  /// The signal mask for such a wait (ppoll).
  [[nodiscard]] const sigset_t* let_through() const { return &before_; }

 private:
  sigset_t before_{};
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

Interruption::Interruption() {
  came_ = 0;
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &both, &before_);
  struct sigaction action {};
  action.sa_handler = notice;
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
}

Interruption::~Interruption() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool Interruption::came() const { return came_ != 0; }

std::string status_of(ExitCode code) {
  if (code == ExitCode::user_error) return "failed";
  if (code == ExitCode::host_limit) return "starved";
  return code == ExitCode::no_progress ? "stuck" : "defect";
}

/// Lets `answer` fill a result that has this status; an exception becomes the result instead.
sweep::Result answered(const char* status, const config::Config& config,
                       const std::function<void(sweep::Result&)>& answer) {
  sweep::Result result{status, "", seed_of(config.resolved), nullptr};
  try {
    answer(result);
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    result.status = status_of(failure.code);
    result.error = failure.message;
  }
  return result;
}

/// The result of `work` in a child process, which may die.
sweep::Result in_child(const config::Config& config, const std::function<sweep::Result()>& work) {
  sweep::Result result{kDied, "", nullptr, nullptr};
  const auto to_text = [&](std::size_t /*item*/) {
    return config::one_line(sweep::to_json(work()));
  };
  run_in_children(1, 1, to_text, [&](const Children::Finished& finished) {
    if (finished.death.empty())
      result = sweep::from_json(config::Json::parse(finished.text));
    else
      result = died(finished, seed_of(config.resolved));
  });
  return result;
}

/// Runs a built workload.
void run(const config::Config& config, const report::Built& built, const Simulator& simulator,
         sweep::Result& result) {
  const report::Outcome outcome = simulator.run(config, built, {});
  report::Report report = report::make_report(config, built, outcome);
  if (!report.passed()) {
    result.status = "wrong";
    result.error = "the result is wrong: " + outcome.check.problem;
  }
  result.report = std::move(report.json);
}

}  // namespace

config::Json seed_of(const config::Json& resolved) {
  const config::Json& workload = resolved.at("workload");
  return workload.contains("seed") ? workload.at("seed") : resolved.at("run").at("seed");
}

sweep::Result run_point(const config::Config& config, const Simulator& simulator) {
  return answered("done", config, [&](sweep::Result& result) {
    run(config, simulator.build(config), simulator, result);
  });
}

sweep::Result run_point_in_child(const config::Config& config, const Simulator& simulator) {
  return answered("done", config, [&](sweep::Result& result) {
    const report::Built built = simulator.build(config);
    const auto in_it = [&](sweep::Result& its) { run(config, built, simulator, its); };
    result = in_child(config, [&] { return answered("done", config, in_it); });
  });
}

sweep::Result died(const Children::Finished& finished, config::Json seed) {
  return {finished.starved ? kStarved : kDied, "the simulation died: " + finished.death,
          std::move(seed), nullptr};
}

sweep::Result run_point_twice(const config::Config& config,
                              const std::function<config::Config()>& again,
                              const Simulator& simulator) {
  config::Config with_values = again();
  with_values.run.values = true;
  with_values.run.threads = config.run.threads;
  const sweep::Result full = run_point_in_child(with_values, simulator);
  sweep::Result result = run_point_in_child(config, simulator);
  if (full.status == kDied || full.status == kStarved || full.status == "wrong")
    return {full.status, full.error, result.seed, nullptr};
  const bool same = full.status == result.status &&
                    (result.report.is_null() ||
                     report::without_values(result.report) == report::without_values(full.report));
  if (!same)
    return {"defect", "a timing run and a full run of the point differ", result.seed, nullptr};
  if (!result.report.is_null()) result.report["timing"]["computed_too"] = true;
  return result;
}

sweep::Result predict_point(const config::Config& config, const Forecast& forecast) {
  return answered("predicted", config, [&](sweep::Result& result) {
    const sensitivity::Answer answer = forecast(config);
    if (!answer.error.empty()) throw UserError(answer.error);
    result.report = report::predicted_report(config, answer);
  });
}

PointAnswer point_answer(sweep::Way way, const config::Config& first, const Simulator& simulator) {
  if (way == sweep::Way::simulated)
    return [&simulator](const config::Config& config) { return run_point(config, simulator); };
  Forecast known;
  try {
    known = simulator.forecast(first);
  } catch (const UserError&) {  // no plan exists, which `first`'s own answer will say
    known = nullptr;
  }
  return [known, &simulator](const config::Config& config) {
    return predict_point(
        config, known ? known : [&](const config::Config& itself) {
          return simulator.forecast(itself)(itself);
        });
  };
}

bool PointRunner::run(std::span<const PointTask> points, SweepProgress& progress) {
  const Interruption interruption;
  Children children(Children::Kept::yes);
  for (std::size_t i = 0; i < points.size(); ++i) waiting_.push_back(i);
  while (!waiting_.empty() || !alone_.empty() || children.running() > 0) {
    while (std::deque<std::size_t>* const queue = startable(children.running())) {
      if (queue == &alone_) children.dismiss();  // idle children hold memory
      const std::size_t next = take(*queue, points, children.last_of_next());
      in_hand_.insert(points[next].group);
      children.start(next, [&](std::size_t i) { return answer(points[i]); });
    }
    constexpr int kTenTimesASecond = 100;
    for (const auto& finished : children.wait(kTenTimesASecond, -1, interruption.let_through())) {
      in_hand_.erase(in_hand_.find(points[finished.item].group));
      finish(points[finished.item], finished, progress);
    }
    progress.show();
    if (interruption.came()) return false;
  }
  return true;
}

/// The queue that may start a point with `running` points active; null: neither.
std::deque<std::size_t>* PointRunner::startable(std::size_t running) {
  if (!waiting_.empty()) return running < jobs_ ? &waiting_ : nullptr;
  return running == 0 && !alone_.empty() ? &alone_ : nullptr;
}

/// Removes the next point for a child that last answered `last`: one of the same group, else of a
/// group that no child works on, else the first.
std::size_t PointRunner::take(std::deque<std::size_t>& queue, std::span<const PointTask> points,
                              std::optional<std::size_t> last) {
  constexpr std::ptrdiff_t kLooked = 256;  // enough to look past the groups in hand
  const auto end = queue.begin() + std::min(std::ssize(queue), kLooked);
  const auto group = [&](std::size_t i) { return points[i].group; };
  auto found = last ? std::ranges::find(queue.begin(), end, points[*last].group, group) : end;
  if (found == end)
    found = std::find_if(queue.begin(), end,
                         [&](std::size_t i) { return !in_hand_.contains(points[i].group); });
  if (found == end) found = queue.begin();
  const std::size_t taken = *found;
  queue.erase(found);
  return taken;
}

/// Runs in a child: stores the result and returns its status; returns a message too if the point is
/// to be tried again.
std::string PointRunner::answer(const PointTask& point) const {
  config::Config config = point.config();
  // Points already use all cores.
  if (config.run.threads == 0) {
    config.run.threads = std::max(1U, std::thread::hardware_concurrency() / jobs_);
  }
  sweep::Result result = point.answer ? point.answer(config) : answer_(config);
  if (result.status == kStarved || result.status == kDied)
    return result.status + " " + result.error;
  try {
    store_.put(point.id, result);
  } catch (const HostLimit& error) {
    return kStarved + std::string(" ") + error.what();
  }
  return result.status;
}

void PointRunner::finish(const PointTask& point, const Children::Finished& finished,
                         SweepProgress& progress) {
  const bool told = finished.death.empty();
  const std::size_t space = finished.text.find(' ');
  if (told && space == std::string::npos) {
    progress.count(finished.text);
    return;
  }
  // Retries once with no other point running: others may have used up the memory.
  if (again_.insert(point.id).second) {
    alone_.push_back(finished.item);
    return;
  }
  sweep::Result result = died(finished, seed_of(point.config().resolved));
  if (told) {
    result.status = finished.text.substr(0, space);
    result.error = finished.text.substr(space + 1);
  }
  store_.put(point.id, result);
  progress.count(result.status);
}

}  // namespace tessera::command
