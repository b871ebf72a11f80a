#pragma once

#include "sim/base/errors.h"

namespace tessera::program {

/// Calls `run`, which runs a program that a kernel made. One that faults is a bug of ours, since
/// what the user gave was checked before: throws Defect instead of UserError.
template <class Run>
auto run_of_kernel(const Run& run) {
  try {
    return run();
  } catch (const UserError& error) {
    throw Defect(error.what());
  }
}

}  // namespace tessera::program
