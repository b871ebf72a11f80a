#pragma once

#include "inputs.h"

namespace tessera::fuzz {

/// A small problem of any kernel on a machine of any kind; usually feasible. Its result is compared
/// in full.
Json small_run(const Seeds& seeds, Choices& choices);

/// A workload of one of the kernels that declare values for this kind of input.
Json drawn_workload(const Seeds& seeds, const std::string& kind, Choices& choices);

/// Sets each key of `values` (a.b is b in a) in `into` to one of its values. "size" and "power" are
/// drawn; objects in a list have their keys chosen alike; {"repeat", "layer", "last"} is a list.
void choose(Json& into, const Json& values, Choices& choices);

}  // namespace tessera::fuzz
