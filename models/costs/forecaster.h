#pragma once

#include <memory>

#include "models/costs/program_activity.h"
#include "models/costs/remembered_exchanges.h"
#include "sim/config/config.h"
#include "sim/program/workload.h"
#include "sim/sensitivity/answer.h"

namespace tessera {

/// What runs of one config and of others like it would take, without running them: each is planned
/// anew, its time is the plan's prediction, its energy that of what ProgramActivity finds. What the
/// others share with the first is not done again: schedules of its exchanges; all of its plan where
/// only joules and mm2 differ. Leaves out what predictions do: transfers with the host while the
/// program runs. For several threads.
class Forecaster {
 public:
  /// Throws UserError where the config cannot be planned.
  explicit Forecaster(const config::Config& first);
  ~Forecaster();

  /// A user's mistake, such as what does not fit, is the answer's error.
  [[nodiscard]] sensitivity::Answer operator()(const config::Config& config);

 private:
  struct Planned;
  [[nodiscard]] Planned plan(const config::Config& config);
  [[nodiscard]] sensitivity::Answer answer(const config::Config& config, const Planned& planned);

  RememberedExchanges exchanges_;
  ProgramActivity activity_;
  std::unique_ptr<Planned> first_;
};

}  // namespace tessera
