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
  /// Roundings that an element of its results goes through, one after the other: the terms of the
  /// longest sum, of networks over all layers, passes and steps.
  double depth = 1;
  bool half = false;    ///< f16 rounds its results or what they are made of
  bool trains = false;  ///< weights are results
};

/// Cases for what kernels state: passes, types and layer kinds. `only`: those whose name begins
/// with it.
std::vector<Case> cases(std::string_view only);

}  // namespace tessera::faults
