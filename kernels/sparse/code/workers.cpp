#include <algorithm>

#include "kernels/sparse/code/shape.h"
#include "sim/base/types.h"

namespace tessera::sparse {

namespace {

/// Greedy cuts of the rows: no part of several rows has more work than `most`.
std::vector<std::uint32_t> cuts_within(const std::vector<std::uint64_t>& before,
                                       std::uint64_t most) {
  const auto rows = static_cast<std::uint32_t>(before.size()) - 1;
  std::vector<std::uint32_t> cuts{0};
  while (cuts.back() < rows) {
    const auto after = std::upper_bound(before.begin() + cuts.back() + 1, before.end(),
                                        before[cuts.back()] + most);
    const auto end = static_cast<std::uint32_t>(after - before.begin()) - 1;
    cuts.push_back(std::max(end, cuts.back() + 1));
  }
  return cuts;
}

/// `parts` + 1 cuts of the rows that minimise the largest work between two cuts.
std::vector<std::uint32_t> balanced_cuts(const std::vector<std::uint64_t>& before,
                                         std::uint32_t parts) {
  std::uint64_t largest = 0;
  for (std::size_t row = 1; row < before.size(); ++row)
    largest = std::max(largest, before[row] - before[row - 1]);
  const std::uint64_t mean = ceil_div<std::uint64_t>(before.back(), parts);
  std::uint64_t enough = std::min(mean + largest, before.back());
  std::uint64_t too_little = std::max(mean, largest);
  if (too_little > 0) --too_little;
  while (too_little + 1 < enough) {
    const std::uint64_t middle = too_little + (enough - too_little) / 2;
    (cuts_within(before, middle).size() <= parts + 1 ? enough : too_little) = middle;
  }
  std::vector<std::uint32_t> cuts = cuts_within(before, enough);
  cuts.resize(parts + 1, cuts.back());
  return cuts;
}

}  // namespace

std::vector<WorkerRows> rectangles(const std::vector<std::uint64_t>& before, std::uint32_t passes,
                                   std::uint32_t workers, std::uint32_t pass_parts) {
  const std::uint32_t row_parts = workers / pass_parts;
  const std::vector<std::uint32_t> cuts = balanced_cuts(before, row_parts);
  std::vector<WorkerRows> all(workers);
  for (std::uint32_t w = 0; w < row_parts * pass_parts; ++w) {
    const std::uint32_t row = cuts[w / pass_parts];
    const std::uint32_t rows = cuts[w / pass_parts + 1] - row;
    const std::uint32_t first = passes * (w % pass_parts) / pass_parts;
    const std::uint32_t count = passes * (w % pass_parts + 1) / pass_parts - first;
    if (rows > 0 && count > 0) all[w] = {row, rows, first, count};
  }
  return all;
}

std::vector<WorkerRows> divide_rows(
    const std::vector<std::uint64_t>& before, std::uint32_t passes, std::uint32_t workers,
    std::uint32_t most_pass_parts,
    const std::function<std::uint64_t(const std::vector<WorkerRows>&)>& cycles) {
  std::vector<WorkerRows> best;
  std::uint64_t least = 0;
  for (std::uint32_t parts = 1; parts <= most_pass_parts; ++parts) {
    std::vector<WorkerRows> all = rectangles(before, passes, workers, parts);
    const std::uint64_t its = cycles(all);
    if (!best.empty() && its >= least) continue;
    best = std::move(all);
    least = its;
  }
  return best;
}

}  // namespace tessera::sparse
