#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/report/run_result.h"

namespace tessera {

/// Keeps what each tile did in every measured superstep, a row a superstep. When more than
/// `most_cells` tiles x rows are reached, neighbouring rows are added up: two supersteps a row,
/// then four. So memory is bounded, the whole run is covered and every sum is exact.
class TileStepRecorder {
 public:
  TileStepRecorder(std::uint32_t tiles, std::uint64_t most_cells);

  /// Adds a tile's cycles in the superstep that is open.
  void add(TileId tile, Cycle compute, Cycle exchange, Cycle wait);
  /// Ends the superstep; what is not measured is forgotten.
  void close(bool measured);

  [[nodiscard]] const TileSteps& kept() const { return kept_; }

 private:
  void merge();

  std::size_t row_;  ///< numbers in a row
  std::uint64_t most_rows_;
  std::uint64_t supersteps_ = 0;
  std::vector<std::uint32_t> open_;
  TileSteps kept_;
};

}  // namespace tessera
