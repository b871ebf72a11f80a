#pragma once

#include "sim/base/errors.h"

namespace tessera::program {

/// Calls `run`, which runs a kernel's program. User input was checked before, so a fault is our
/// bug: turns UserError into Defect.
template <class Run>
auto run_of_kernel(const Run& run) {
  try {
    return run();
  } catch (const UserError& error) {
    throw Defect(error.what());
  }
}

}  // namespace tessera::program
