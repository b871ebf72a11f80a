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

/// Predicts a config's time; several threads may call it.
using Forecast = std::function<sensitivity::Answer(const config::Config&)>;

/// How much of the way to a run a config is taken to see whether it fits.
enum class FitTest : std::uint8_t {
  plan,   ///< that the planner finds a plan, of which no exchange is scheduled
  memory  ///< that each tile holds the program's bytes
};
/// Throws UserError for a config that cannot be planned or does not fit its machine.
using FitCheck = std::function<void(const config::Config&, FitTest)>;

/// Who follows a run; null: nobody.
struct Observers {
  trace::RunTrace* trace = nullptr;
  RunProgress* progress = nullptr;
  std::vector<std::string> tensors = {};  ///< wanted in the outcome
};

/// Parts that main hands to the commands: the kernels, the files inside the program, and the way
/// from a config to a run.
struct Simulator {
  Catalogue catalogue;
  std::vector<config::Preset> machines;
  std::vector<config::Preset> validation;  ///< sets that `tessera validate` judges
  std::vector<config::Preset> papers;      ///< figures of papers, of the same form
  /// Remembers what plans have asked: the next config of a process may be built faster.
  std::function<report::Built(const config::Config&)> build;
  /// One at a time: SystemC has one machine.
  std::function<report::Outcome(const config::Config&, const report::Built&, const Observers&)> run;
  /// For a config and others that differ from it in little.
  std::function<Forecast(const config::Config&)> forecast = {};
  /// Runs it, for where the cycles of its codelets went. As `run`, one at a time.
  std::function<std::vector<report::ProfiledFunction>(const config::Config&, const report::Built&)>
      profile = {};
  /// For configs that differ in little: as `build` says of them, without what only a run needs.
  std::function<FitCheck()> fit_check = {};
  /// As `build`, its images without bytes.
  std::function<report::Built(const config::Config&)> outline = {};
};

}  // namespace tessera::command
