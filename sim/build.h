#pragma once

#include "models/run_options.h"
#include "sim/config/config.h"
#include "sim/report/report.h"

/// The functions from a config to a machine's images, for callers that link all kernels: the
/// program (main.cpp) and the module for other platforms (platform_machine.cpp).
namespace tessera {

class RememberedPrograms;

/// config -> plan -> program -> images. Throws UserError, or KeyError for a key of the config.
report::Built build(const config::Config& config);
/// As above, but reuses programs of earlier configs in `programs`: faster, with the same result.
report::Built build(const config::Config& config, RememberedPrograms& programs);

/// As build(config), but images have no bytes.
report::Built outline(const config::Config& config);

/// The machine's options, from the sections run and report.
RunOptions options_of(const config::Config& config);

}  // namespace tessera
