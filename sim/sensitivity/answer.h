#pragma once

#include <optional>
#include <string>

#include "sim/program/workload.h"

namespace tessera::sensitivity {

/// The time, energy and area of a run, predicted or simulated.
struct Answer {
  std::string error = {};    ///< why there is no answer; empty: there is one
  std::string plan = {};     ///< as JSON
  std::string problem = {};  ///< as in report.json
  double seconds = 0;
  std::optional<double> joules = {};  ///< none: unknown
  std::optional<double> mm2 = {};     ///< none: the machine has no energy table
  Prediction prediction = {};         ///< of the program; zero if it was simulated
  std::uint64_t host_cycles = 0;      ///< also in `seconds`, if the host is measured
};

}  // namespace tessera::sensitivity
