#pragma once

#include <memory>

#include "models/costs/measured_costs.h"
#include "models/costs/program_activity.h"
#include "models/costs/remembered_programs.h"
#include "sim/config/config.h"
#include "sim/program/workload.h"
#include "sim/sensitivity/answer.h"

namespace tessera {

/// Predicts time and energy of runs of one config and of others like it, without running them: each
/// is planned anew, its time is the plan's prediction, its energy that of the activity that
/// ProgramActivity finds. The others take over from the first: its whole plan, if planners know the
/// same of both machines and all their questions have the same answers; else its programs' resource
/// usage. Leaves out: transfers with the host while the program runs, as predictions do. For
/// several threads.
class Forecaster {
 public:
  /// Throws UserError where the config cannot be planned.
  explicit Forecaster(const config::Config& first);
  ~Forecaster();

  /// A user's mistake, such as a workload that does not fit, is the answer's error.
  [[nodiscard]] sensitivity::Answer operator()(const config::Config& config);

 private:
  struct Planned;
  [[nodiscard]] std::shared_ptr<const Planned> plan(const config::Config& config);
  [[nodiscard]] sensitivity::Answer answer(const config::Config& config, const Planned& planned);
  [[nodiscard]] bool plans_alike(const config::Config& config);

  RememberedPrograms programs_;
  ProgramActivity activity_;
  MeasuredCosts::Asked asked_;  ///< while the first was planned
  std::shared_ptr<const Planned> first_;
};

}  // namespace tessera
