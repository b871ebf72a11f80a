#include "kernels/spmm_static/element_work.h"

#include <algorithm>
#include <cmath>

namespace tessera::spmm_static {

using sparse::WorkerRows;

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

Divided divide(const Share& share, const ElementWork& work, std::uint32_t passes,
               std::uint32_t workers) {
  std::vector<WorkerCycles> before{{}};
  std::vector<std::uint64_t> full{0};
  for (const RowRun& run : share.rows) {
    before.push_back(before.back() + work.row[run.last - run.first]);
    full.push_back(before.back().full);
  }
  const auto cycles = [&](const std::vector<WorkerRows>& all) {
    std::vector<WorkerCycles> each;
    for (const WorkerRows& its : all) {
      const WorkerCycles& first = before[its.first_row];
      const WorkerCycles& end = before[its.first_row + its.rows];
      each.push_back(its.passes *
                     (work.pass + WorkerCycles{end.full - first.full, end.alone - first.alone}));
    }
    return work.once + together(each);
  };
  std::vector<WorkerRows> best = sparse::divide_rows(full, passes, workers, workers, cycles);
  const std::uint64_t least = cycles(best);
  return {std::move(best), least};
}

}  // namespace tessera::spmm_static
