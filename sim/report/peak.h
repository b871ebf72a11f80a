#pragma once

#include <string>

#include "sim/machine/machine_config.h"

namespace tessera::report {

/// The peak that `fraction_of_peak` refers to.
struct Peak {
  std::string type;       ///< as Workload::peak_type names it
  double per_second = 0;  ///< floating-point operations or bytes of the whole machine
  bool of_bytes = false;
  bool of_integers = false;
};

/// The machine's peak for a type: f16 (partials of any type), f16_f32 (f16 with f32 partials), f32,
/// i8, i16, bf16 (two operations per multiply-add; f types by the matrix unit or by packed
/// instructions, whichever is faster) or bytes (loads and stores of local memory). Throws Defect
/// for another name.
Peak peak_of(const MachineConfig& machine, const std::string& type);

}  // namespace tessera::report
