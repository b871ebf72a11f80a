#pragma once

#include <vector>

#include "sim/command/gates.h"

namespace tessera::command {

/// How a value changes from a point to the next one along a number, over how the published one
/// does.
struct Change {
  const Row* from;
  const Row* to;
  double ratio;
};
/// Those of the set's neighbours that both have numbers, by `Neighbours::over`.
std::vector<Change> changes(const ValidationSet& set, const std::vector<Row>& rows);

}  // namespace tessera::command
