#pragma once

#include <string>
#include <vector>

#include "sim/plot/rows.h"

namespace tessera::plot {

/// A limit of a machine: operations or bytes per second.
struct Roof {
  std::string name;
  double per_second;
  bool operator==(const Roof&) const = default;
};

/// The roofs of a whole machine.
struct Roofs {
  /// Peaks of the matrix unit and of vector instructions in FLOP/s, or of the matrix unit in
  /// integer OP/s; highest first.
  std::vector<Roof> flats;
  std::vector<Roof> slopes;  ///< bytes/s: local memory (loads and stores), exchange

  [[nodiscard]] double top() const { return flats.front().per_second; }
  [[nodiscard]] double steepest() const { return slopes.front().per_second; }
};

/// Computed from section `machine` of the runs' configs and the tile ISA's widest instructions, for
/// integer or floating-point operations. Throws UserError if the runs' machines differ: a figure
/// has one set of roofs.
Roofs roofs_of(const Rows& rows, bool of_integers);

}  // namespace tessera::plot
