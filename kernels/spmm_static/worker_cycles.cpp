#include "kernels/spmm_static/worker_cycles.h"

#include <algorithm>
#include <cmath>

namespace tessera::spmm_static {

std::uint64_t together(const std::vector<WorkerCycles>& workers) {
  std::vector<std::uint64_t> ends;
  WorkerCycles longest;
  for (const WorkerCycles& worker : workers) {
    ends.push_back(worker.full);
    if (worker.full > longest.full) longest = worker;
  }
  if (longest.alone >= longest.full) return longest.full;
  std::sort(ends.begin(), ends.end());
  const double least = static_cast<double>(longest.alone) / static_cast<double>(longest.full);
  double cycles = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const double busy = static_cast<double>(ends.size() - i) / static_cast<double>(ends.size());
    cycles += static_cast<double>(ends[i] - (i == 0 ? 0 : ends[i - 1])) * std::max(least, busy);
  }
  return static_cast<std::uint64_t>(std::llround(cycles));
}

}  // namespace tessera::spmm_static
