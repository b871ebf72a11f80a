#pragma once

#include "mutations.h"

namespace tessera::fuzz {

/// A small problem of any kernel on a machine of any kind, which most often exists; its result is
/// compared in full.
Json small_run(Choices& choices);

/// Sets each key of `values` (a.b is b in a) in `into` to one of its values; "size" and "power" are
/// drawn, objects in a list chosen likewise.
void choose(Json& into, const Json& values, Choices& choices);

}  // namespace tessera::fuzz
