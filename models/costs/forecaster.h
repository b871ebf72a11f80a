#pragma once

#include <memory>

#include "models/costs/measured_costs.h"
#include "models/costs/program_activity.h"
#include "models/costs/remembered_programs.h"
#include "sim/config/config.h"
#include "sim/program/workload.h"
#include "sim/sensitivity/answer.h"

namespace tessera {

/// Predicts time and energy of one config and of similar ones without running them: each is
/// planned, its time is the plan's prediction, its energy comes from ProgramActivity's counts. The
/// others reuse the first config's whole plan if planners see equal machines and all cost queries
/// have equal answers; otherwise its programs' resource usage. Leaves out, as predictions do: host
/// transfers while the program runs. Thread-safe.
class Forecaster {
 public:
  /// Throws UserError if the config cannot be planned.
  explicit Forecaster(const config::Config& first);
  ~Forecaster();

  /// A user error, such as a workload that does not fit, is returned in the answer.
  [[nodiscard]] sensitivity::Answer operator()(const config::Config& config);

 private:
  struct Planned;
  [[nodiscard]] std::shared_ptr<const Planned> plan(const config::Config& config);
  [[nodiscard]] sensitivity::Answer answer(const config::Config& config, const Planned& planned);
  [[nodiscard]] bool plans_alike(const config::Config& config);

  RememberedPrograms programs_;
  ProgramActivity activity_;
  MeasuredCosts::Queries asked_;  ///< queries while planning the first
  std::shared_ptr<const Planned> first_;
};

}  // namespace tessera
