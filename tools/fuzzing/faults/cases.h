#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/fuzzing/mutations.h"

namespace tessera::faults {

/// A small run of a kernel.
struct Case {
  std::string name;
  std::string kernel;
  fuzz::Json config;
  /// Number of sequential roundings behind an element of the results: the terms of the longest sum;
  /// for networks over all layers, passes and steps.
  double depth = 1;
  bool half = false;    ///< results, or values they are made of, are rounded to f16
  bool trains = false;  ///< weights are results
};

/// The cases that kernels declare: passes, types and layer kinds. `only`: a prefix of their names.
std::vector<Case> cases(std::string_view only);

}  // namespace tessera::faults
