#pragma once

#include <cstdint>
#include <vector>

/// What work takes of a worker, whose tile may have others that compete for its pipeline.
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

}  // namespace tessera::spmm_static
