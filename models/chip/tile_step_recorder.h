#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/report/run_result.h"

namespace tessera {

/// Keeps each tile's activity in every measured superstep, one row per superstep. Above
/// `most_cells` (tiles x rows), neighbouring rows are summed: two supersteps per row, then four. So
/// memory is bounded, the whole run is covered and every sum is exact.
class TileStepRecorder {
 public:
  TileStepRecorder(std::uint32_t tiles, std::uint64_t most_cells);

  /// Adds a tile's cycles in the open superstep.
  void add(TileId tile, Cycle compute, Cycle exchange, Cycle wait);
  /// Ends the superstep; drops it unless measured.
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
