#pragma once

#include <string>
#include <vector>

#include "sim/plot/rows.h"

namespace tessera::plot {

/// Limit of a machine: operations or bytes a second.
struct Roof {
  std::string name;
  double per_second;
  bool operator==(const Roof&) const = default;
};

/// The roofs of a machine, all its tiles together.
struct Roofs {
  /// Peaks of the matrix unit and of vector instructions in FLOP/s, or of the matrix unit in
  /// integer operations a second; highest first.
  std::vector<Roof> flats;
  std::vector<Roof> slopes;  ///< bytes/s: of local memory (loads and stores), of the exchange

  [[nodiscard]] double top() const { return flats.front().per_second; }
  [[nodiscard]] double steepest() const { return slopes.front().per_second; }
};

/// From section `machine` of the runs' configs and the tile ISA's widest instructions; of
/// operations on integers or floating-point numbers. Throws UserError if the runs' machines differ:
/// a figure has one set of roofs.
Roofs roofs_of(const Rows& rows, bool of_integers);

}  // namespace tessera::plot
