#include "kernels/spmm_static/element_work.h"

#include <algorithm>

namespace tessera::spmm_static {

namespace {

/// Cuts of the rows so that no part has more work than `most`, if it has several rows.
std::vector<std::uint32_t> cuts_within(const std::vector<WorkerCycles>& before,
                                       std::uint64_t most) {
  const auto rows = static_cast<std::uint32_t>(before.size()) - 1;
  std::vector<std::uint32_t> cuts{0};
  while (cuts.back() < rows) {
    const auto after = std::upper_bound(
        before.begin() + cuts.back() + 1, before.end(), before[cuts.back()].full + most,
        [](std::uint64_t work, const WorkerCycles& each) { return work < each.full; });
    const auto end = static_cast<std::uint32_t>(after - before.begin()) - 1;
    cuts.push_back(std::max(end, cuts.back() + 1));
  }
  return cuts;
}

/// `parts` + 1 cuts of the rows, between which the most work is the least possible.
std::vector<std::uint32_t> balanced_cuts(const std::vector<WorkerCycles>& before,
                                         std::uint32_t parts) {
  std::uint64_t enough = before.back().full;
  std::uint64_t too_little = 0;
  for (std::size_t row = 1; row < before.size(); ++row) {
    too_little = std::max(too_little, before[row].full - before[row - 1].full);
  }
  if (too_little > 0) --too_little;
  while (too_little + 1 < enough) {
    const std::uint64_t middle = too_little + (enough - too_little) / 2;
    (cuts_within(before, middle).size() <= parts + 1 ? enough : too_little) = middle;
  }
  std::vector<std::uint32_t> cuts = cuts_within(before, enough);
  cuts.resize(parts + 1, cuts.back());
  return cuts;
}

/// `column_parts` parts of the passes, the other workers over rows.
std::vector<WorkerShare> divided(const std::vector<WorkerCycles>& before, const ElementWork& work,
                                 std::uint32_t passes, std::uint32_t workers,
                                 std::uint32_t column_parts) {
  const std::uint32_t row_parts = workers / column_parts;
  const std::vector<std::uint32_t> cuts = balanced_cuts(before, row_parts);
  std::vector<WorkerShare> shares(workers);
  for (std::uint32_t w = 0; w < workers; ++w) {
    WorkerShare& share = shares[w];
    const std::uint32_t i = w / column_parts;
    const std::uint32_t j = w % column_parts;
    if (i >= row_parts) continue;
    const std::uint32_t first_pass = passes * j / column_parts;
    const std::uint32_t end_pass = passes * (j + 1) / column_parts;
    if (cuts[i] == cuts[i + 1] || first_pass == end_pass) continue;
    const WorkerCycles rows{before[cuts[i + 1]].full - before[cuts[i]].full,
                            before[cuts[i + 1]].alone - before[cuts[i]].alone};
    const std::uint32_t count = end_pass - first_pass;
    share = {cuts[i], cuts[i + 1] - cuts[i], first_pass, count, count * (work.pass + rows)};
  }
  return shares;
}

}  // namespace

std::uint64_t tile_cycles(const ElementWork& work, const std::vector<WorkerShare>& shares) {
  std::vector<WorkerCycles> workers;
  workers.reserve(shares.size());
  for (const WorkerShare& share : shares) workers.push_back(share.cycles);
  return work.once + together(workers);
}

std::vector<WorkerShare> divide(const Share& share, const ElementWork& work, std::uint32_t passes,
                                std::uint32_t workers) {
  std::vector<WorkerCycles> before{{}};
  for (const RowRun& run : share.rows) {
    before.push_back(before.back() + work.row[run.last - run.first]);
  }
  std::vector<WorkerShare> best;
  std::uint64_t least = 0;
  for (std::uint32_t column_parts = 1; column_parts <= workers; ++column_parts) {
    std::vector<WorkerShare> shares = divided(before, work, passes, workers, column_parts);
    const std::uint64_t cycles = tile_cycles(work, shares);
    if (!best.empty() && cycles >= least) continue;
    best = std::move(shares);
    least = cycles;
  }
  return best;
}

}  // namespace tessera::spmm_static
