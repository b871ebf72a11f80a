#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sparse/code/workers.h"
#include "kernels/spmm_static/layer.h"

/// How the workers of a tile divide the rows and columns of an element-wise product, and how long
/// they take, who may compete for its pipeline.
namespace tessera::spmm_static {

/// Cycles of one piece of work.
struct WorkerCycles {
  std::uint64_t full = 0;   ///< while all workers of the tile do the same
  std::uint64_t alone = 0;  ///< while the others do nothing

  WorkerCycles& operator+=(const WorkerCycles& other) {
    full += other.full;
    alone += other.alone;
    return *this;
  }
  friend WorkerCycles operator+(WorkerCycles a, const WorkerCycles& b) { return a += b; }
  friend WorkerCycles operator*(std::uint64_t times, const WorkerCycles& one) {
    return {times * one.full, times * one.alone};
  }
};

/// Cycles of a tile whose workers have so much to do each, one entry a worker: the fewer still run,
/// the sooner each has its turn, up to its pace alone. Where nothing is shared, the longest.
std::uint64_t together(const std::vector<WorkerCycles>& workers);

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

/// What the workers of a tile do, rows being those of its share, and how long that takes.
struct Divided {
  std::vector<sparse::WorkerRows> workers;
  std::uint64_t cycles;
};
Divided divide(const Share& share, const ElementWork& work, std::uint32_t passes,
               std::uint32_t workers);

}  // namespace tessera::spmm_static
