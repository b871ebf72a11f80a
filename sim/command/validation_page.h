#pragma once

#include <string>
#include <vector>

#include "sim/command/gates.h"

namespace tessera::command {

/// A set with the rows of its points.
struct ValidatedSet {
  const ValidationSet* set;
  std::vector<Row> rows;
  bool passed;
};

/// One HTML page of them: published beside simulated, residuals by axis, citations, and what each
/// model says that it leaves out.
std::string validation_page(const std::vector<ValidatedSet>& sets);

}  // namespace tessera::command
