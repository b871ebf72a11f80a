#pragma once

#include <string>
#include <vector>

#include "sim/command/accuracy.h"

namespace tessera::command {

/// One HTML page of them: published beside simulated, residuals by axis, citations, and what each
/// model says that it leaves out.
std::string validation_page(const std::vector<ValidatedSet>& sets);

}  // namespace tessera::command
