#include "kernels/spmm_static/element_work.h"

#include <algorithm>

namespace tessera::spmm_static {

namespace {

// Slots of the codelets with dual issue beside those of nonzeros; a test measures them.
constexpr std::uint64_t kWorkerSlots = 16;  // entry to the first pass, and the end
constexpr std::uint64_t kIdleSlots = 7;
constexpr std::uint64_t kPassSlots = 8;

/// Cuts of the rows so that no part has more work than `most`, if it has several rows.
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

/// `parts` + 1 cuts of the rows, between which the most work is the least possible.
std::vector<std::uint32_t> balanced_cuts(const std::vector<std::uint64_t>& before,
                                         std::uint32_t parts) {
  std::uint64_t enough = before.back();
  std::uint64_t too_little = 0;
  for (std::size_t row = 1; row < before.size(); ++row) {
    too_little = std::max(too_little, before[row] - before[row - 1]);
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
std::vector<WorkerShare> divided(const std::vector<std::uint64_t>& before, const ElementCode& code,
                                 std::uint32_t passes, std::uint32_t workers,
                                 std::uint32_t column_parts) {
  const std::uint32_t row_parts = workers / column_parts;
  const std::vector<std::uint32_t> cuts = balanced_cuts(before, row_parts);
  std::vector<WorkerShare> shares(workers);
  for (std::uint32_t w = 0; w < workers; ++w) {
    WorkerShare& share = shares[w];
    share.slots = kIdleSlots;
    const std::uint32_t i = w / column_parts;
    const std::uint32_t j = w % column_parts;
    if (i >= row_parts) continue;
    const std::uint32_t first_pass = passes * j / column_parts;
    const std::uint32_t end_pass = passes * (j + 1) / column_parts;
    if (cuts[i] == cuts[i + 1] || first_pass == end_pass) continue;
    share = {cuts[i], cuts[i + 1] - cuts[i], first_pass, end_pass - first_pass,
             code.slots(before[cuts[i + 1]] - before[cuts[i]], end_pass - first_pass)};
  }
  return shares;
}

std::uint64_t most_slots(const std::vector<WorkerShare>& shares) {
  std::uint64_t most = 0;
  for (const WorkerShare& share : shares) most = std::max(most, share.slots);
  return most;
}

}  // namespace

ElementCode element_code(const Shape& shape, std::uint32_t words) {
  const bool half = shape.type == program::Type::f16;
  if (shape.mixed()) {
    return {words == 2 ? "rows_f16_f32" : "narrow_rows_f16_f32", words, true, true};
  }
  if (half) return {words == 2 ? "rows_f16" : "narrow_rows_f16", words, false, true};
  return {words == 2 ? "rows_f32" : "narrow_rows_f32", words, false, false};
}

std::uint64_t ElementCode::row_slots(std::uint64_t nonzeros) const {
  const bool wide = words == 2;
  if (mixed) {
    const std::uint64_t pairs = nonzeros / 2;
    const std::uint64_t odd = nonzeros % 2 * (wide ? 13 : 8);
    if (pairs == 0) return (wide ? 13 : 9) + odd;
    return (wide ? 22 + 7 * pairs : 15 + 4 * pairs) - (pairs == 1 ? 1 : 0) + odd;
  }
  const std::uint64_t row = half ? (wide ? 13 : 11) : 10;
  if (nonzeros == 0) return (wide ? 6 : 5) + (half ? 1 : 0);
  return row + nonzeros * (wide ? 3 : 2) - (nonzeros == 1 ? 1 : 0);
}

std::uint64_t ElementCode::slots(std::uint64_t row_slots_sum, std::uint64_t passes) const {
  return kWorkerSlots + passes * (kPassSlots + row_slots_sum);
}

std::vector<WorkerShare> divide(const Share& share, const ElementCode& code, std::uint32_t passes,
                                std::uint32_t workers) {
  std::vector<std::uint64_t> before{0};
  for (const RowRun& run : share.rows) {
    before.push_back(before.back() + code.row_slots(run.last - run.first));
  }
  std::vector<WorkerShare> best;
  for (std::uint32_t column_parts = 1; column_parts <= workers; ++column_parts) {
    std::vector<WorkerShare> shares = divided(before, code, passes, workers, column_parts);
    if (best.empty() || most_slots(shares) < most_slots(best)) best = std::move(shares);
  }
  return best;
}

}  // namespace tessera::spmm_static
