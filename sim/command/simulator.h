#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/report/profile.h"
#include "sim/report/report.h"
#include "sim/report/run_progress.h"
#include "sim/sensitivity/answer.h"
#include "sim/trace/run_trace.h"

namespace tessera::command {

/// Predicts a config's time; thread-safe.
using Forecast = std::function<sensitivity::Answer(const config::Config&)>;

/// What a test whether a config fits includes.
enum class FitTest : std::uint8_t {
  plan,   ///< the planner finds a plan; its exchanges are not scheduled
  memory  ///< also: every tile holds the program's bytes
};
/// Throws UserError if a config cannot be planned or does not fit its machine.
using FitCheck = std::function<void(const config::Config&, FitTest)>;

/// Observers of a run; null: none.
struct Observers {
  trace::RunTrace* trace = nullptr;
  RunProgress* progress = nullptr;
  std::vector<std::string> tensors = {};  ///< to be kept in the outcome
};

/// What main passes to the commands: the kernels, the embedded files, and the functions from a
/// config to a run.
struct Simulator {
  Catalogue catalogue;
  std::vector<config::Preset> machines;
  std::vector<config::Preset> validation;  ///< sets that `tessera validate` judges
  std::vector<config::Preset> papers;      ///< figures of papers, in the same form
  /// Caches answers that plans asked for: later builds of the process may be faster.
  std::function<report::Built(const config::Config&)> build;
  /// Call it one at a time: SystemC allows one machine.
  std::function<report::Outcome(const config::Config&, const report::Built&, const Observers&)> run;
  /// For a config and similar ones.
  std::function<Forecast(const config::Config&)> forecast = {};
  /// Runs the config and profiles its codelets. One at a time, like `run`.
  std::function<std::vector<report::ProfiledFunction>(const config::Config&, const report::Built&)>
      profile = {};
  /// For similar configs; caches like `build`, leaves out what only a run needs.
  std::function<FitCheck()> fit_check = {};
  /// As `build`, but images have no bytes.
  std::function<report::Built(const config::Config&)> outline = {};
};

}  // namespace tessera::command
