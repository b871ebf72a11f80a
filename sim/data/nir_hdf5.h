#pragma once

#include <string>

#include "sim/data/nir_file.h"

namespace tessera::data {

/// The graph of a .nir file that lies in memory, as libhdf5 reads it; `name` stands in UserErrors.
/// That library does not survive every malformed file: call this in a process of its own.
NirGraph parse_nir(const std::string& name, std::string bytes);

}  // namespace tessera::data
