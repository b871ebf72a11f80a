#pragma once

#include "mutations.h"

namespace tessera::fuzz {

/// A small problem of any kernel on a machine of any kind, which most often exists; its result is
/// compared in full.
Json small_run(Choices& choices);

}  // namespace tessera::fuzz
