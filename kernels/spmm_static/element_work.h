#pragma once

#include <cstdint>
#include <vector>

#include "kernels/spmm_static/layer.h"
#include "kernels/spmm_static/worker_cycles.h"

/// How the workers of a tile divide the rows and columns of an element-wise product.
namespace tessera::spmm_static {

/// What a product's codelet takes: a tile once, and a worker for each pass and for each row of so
/// many nonzeros in a pass.
struct ElementWork {
  std::uint64_t once = 0;
  WorkerCycles pass = {};
  std::vector<WorkerCycles> row = {};  ///< by nonzeros, up to those of the fullest row
};

/// Of passes of one word and of two.
struct ElementWorks {
  ElementWork narrow, wide;

  [[nodiscard]] const ElementWork& of(std::uint32_t words) const {
    return words == 2 ? wide : narrow;
  }
};

/// Where one worker of a tile works: rows of the share and passes.
struct WorkerShare {
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_pass = 0;
  std::uint32_t passes = 0;
  WorkerCycles cycles = {};
};

/// Cycles of a tile whose workers do that.
std::uint64_t tile_cycles(const ElementWork& work, const std::vector<WorkerShare>& shares);

/// Rectangles of about equal work, `workers` of them; some may be empty.
std::vector<WorkerShare> divide(const Share& share, const ElementWork& work, std::uint32_t passes,
                                std::uint32_t workers);

}  // namespace tessera::spmm_static
