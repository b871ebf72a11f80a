#pragma once

#include <optional>
#include <string>

#include "sim/program/workload.h"

namespace tessera::sensitivity {

/// Time that a run is predicted to take, or took.
struct Answer {
  std::string error = {};    ///< why there is none; empty: there is one
  std::string plan = {};     ///< as JSON
  std::string problem = {};  ///< as report.json has it
  double seconds = 0;
  std::optional<double> joules = {};  ///< none: not known
  std::optional<double> mm2 = {};     ///< none: the machine has no table
  Prediction prediction = {};         ///< for the program; zero where it ran
  std::uint64_t host_cycles = 0;      ///< that `seconds` has beside it, where the host is measured
};

}  // namespace tessera::sensitivity
