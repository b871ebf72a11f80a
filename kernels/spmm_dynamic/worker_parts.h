#pragma once

#include <cstddef>
#include <vector>

#include "kernels/spmm_dynamic/bucket.h"

/// How the workers of a tile share a sub-group whose blocks do not go past a matrix unit: rows, or
/// rows and passes where there are few rows.
namespace tessera::spmm_dynamic {

struct WorkerParts {
  std::vector<std::size_t> cuts;  ///< the first row of each part, and the end
  std::uint32_t pass_parts;       ///< of the passes, for each part of the rows

  [[nodiscard]] std::size_t row_parts() const { return cuts.size() - 1; }
};
WorkerParts worker_parts(const PoolShape& shape, const SubGroup& group);

/// The group as products see it, its busiest worker included.
Portion portion_of(const PoolShape& shape, const SubGroup& group);

/// Values of a row, with what makes it whole units.
std::uint32_t units_of(const PoolShape& shape, const RowPart& row);

}  // namespace tessera::spmm_dynamic
