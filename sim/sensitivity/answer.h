#pragma once

#include <optional>
#include <string>

namespace tessera::sensitivity {

/// What a run is about to take, or took.
struct Answer {
  std::string error = {};    ///< why there is none; empty: there is one
  std::string plan = {};     ///< as JSON
  std::string problem = {};  ///< as report.json has it
  double seconds = 0;
  std::optional<double> joules = {};  ///< none: not known
  std::optional<double> mm2 = {};     ///< none: the machine has no table
};

}  // namespace tessera::sensitivity
