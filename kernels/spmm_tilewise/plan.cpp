#include "kernels/spmm_tilewise/plan.h"

#include <algorithm>
#include <optional>

#include "kernels/spmm_tilewise/cost.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"

namespace tessera::spmm_tilewise {

namespace {

constexpr std::uint32_t kMostParts = 16;

/// From how many single elements rows are multiplied whole, to try.
constexpr std::uint32_t kRowSingles[] = {0, 2, 3, 4, 6, 8, 12, 16};

/// The rows of a column tile, those of `row_singles` single elements or more and, to fill the last
/// block of depth, those of most of the others.
std::vector<std::uint32_t> whole_blocks(const std::vector<std::uint32_t>& rows,
                                        const std::vector<std::uint32_t>& singles,
                                        std::uint32_t row_singles, const Problem& problem) {
  std::vector<bool> taken(problem.padded_k(), false);
  for (const std::uint32_t row : rows) taken[row] = true;
  std::vector<std::uint32_t> others;
  for (std::uint32_t row = 0; row < taken.size(); ++row) {
    if (!taken[row]) others.push_back(row);
  }
  const auto singles_of = [&](std::uint32_t row) {
    return row < singles.size() ? singles[row] : 0;
  };
  std::stable_sort(others.begin(), others.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return singles_of(a) > singles_of(b); });
  std::size_t more = 0;
  while (row_singles != 0 && more < others.size() && singles_of(others[more]) >= row_singles)
    ++more;
  more = round_up<std::size_t>(rows.size() + more, problem.block.depth) - rows.size();
  for (std::size_t i = 0; i < more; ++i) taken[others[i]] = true;
  std::vector<std::uint32_t> all;
  for (std::uint32_t row = 0; row < taken.size(); ++row) {
    if (taken[row]) all.push_back(row);
  }
  return all;
}

class Search {
 public:
  Search(const Problem& problem, const TilePattern& pattern, MachineCosts& costs,
         const Pinned& pinned)
      : problem_(problem),
        pattern_(pattern),
        machine_(costs.machine()),
        pinned_(pinned),
        cost_(problem, costs) {
    for (const ColumnTile& tile : pattern.tiles) {
      singles_.push_back(singles_by_row(pattern, tile, problem.k));
      widest_ = std::max(widest_, static_cast<std::uint32_t>(tile.columns.size()));
    }
  }

  Plan run() {
    require_at_most("parts", pinned_.parts, widest_);
    std::uint32_t deepest = 0;
    for (const std::uint32_t row_singles : kRowSingles) {
      if (row_singles != 0 && pattern_.overlay.empty()) break;
      const std::uint32_t never = pattern_.overlay.empty() ? 0 : widest_ + 1;
      const std::uint32_t chosen = row_singles != 0 ? row_singles : never;
      try_rows(pinned_.row_singles != 0 ? pinned_.row_singles : chosen);
      deepest = std::max(deepest, deepest_);
      if (pinned_.row_singles != 0) break;
    }
    require_at_most("cuts", pinned_.cuts, std::max(deepest, 1U));
    if (!best_) fail();
    return *std::move(best_);
  }

 private:
  static void require_at_most(const char* key, std::uint32_t found, std::uint32_t most) {
    if (found <= most) return;
    throw KeyError(fmt::format("workload.plan.{}", key),
                   fmt::format("found {}, allowed 0 to {}", found, most));
  }

  /// The overlay's places within a panel are 16-bit numbers of 64-bit words.
  void require_reach(const OverlayPart& overlay) const {
    const std::size_t most = (std::size_t{1} << 16) / (problem_.vector_bytes() / 8);
    if (overlay.rows.size() <= most) return;
    throw KeyError(
        "workload.overlay",
        fmt::format("names {} rows of W in one tile, allowed up to {}", overlay.rows.size(), most));
  }

  void try_rows(std::uint32_t row_singles) {
    row_singles_ = row_singles;
    rows_.clear();
    deepest_ = 0;
    for (std::size_t t = 0; t < pattern_.tiles.size(); ++t) {
      rows_.push_back(whole_blocks(pattern_.tiles[t].rows, singles_[t], row_singles, problem_));
      deepest_ = std::max(deepest_,
                          static_cast<std::uint32_t>(rows_.back().size() / problem_.block.depth));
    }
    const std::uint32_t most = std::min(kMostParts, widest_);
    for (std::uint32_t parts = 1; parts <= most; ++parts) {
      if (pinned_.parts == 0 || pinned_.parts == parts) try_parts(parts);
    }
    if (pinned_.parts > most) try_parts(pinned_.parts);
  }

  [[nodiscard]] std::vector<Group> groups(std::uint32_t parts) const {
    std::vector<Group> all;
    for (std::uint32_t t = 0; t < pattern_.tiles.size(); ++t) {
      if (rows_[t].empty() && pattern_.overlay.empty()) continue;
      const auto width = static_cast<std::uint32_t>(pattern_.tiles[t].columns.size());
      // Shorter tiles in parts of about the same size.
      const std::uint32_t own = ceil_div(width * parts, widest_);
      for (std::uint32_t part = 0; part < own; ++part) {
        const gemm::Interval columns = gemm::EvenSplit{width, own}.part(part);
        OverlayPart overlay = overlay_part(pattern_, pattern_.tiles[t], columns, rows_[t]);
        if (rows_[t].empty() && overlay.empty()) continue;
        require_reach(overlay);
        all.push_back({t, columns, rows_[t], std::move(overlay)});
      }
    }
    return all;
  }

  void try_parts(std::uint32_t parts) {
    Plan plan{parts, 1, row_singles_, groups(parts), {}, {}, cost_.overlay_work(), {}};
    std::vector<GroupCost> costs;
    for (const Group& group : plan.groups) costs.push_back(cost_.group(group));
    plan.jobs = assign(costs, problem_.panels(), machine_.tiles);
    const auto streams = pattern_streams(plan.groups, problem_.padded_k());
    const std::uint32_t most = std::max(deepest_, 1U);
    for (; plan.cuts <= most; ++plan.cuts) {
      if (pinned_.cuts != 0 && plan.cuts != pinned_.cuts) continue;
      if (fits(plan, streams)) break;
    }
    if (plan.cuts > most) return;
    cost_.predict(plan);
    if (!best_ || plan.prediction.cycles < best_->prediction.cycles) best_ = std::move(plan);
  }

  bool fits(const Plan& plan, const std::vector<std::uint32_t>& streams) {
    const program::CategoryBytes need = cost_.memory(plan, streams);
    if (!least_ || program::total(need) < program::total(*least_)) least_ = need;
    return program::total(need) <= std::uint64_t{machine_.tile.sram_kib} * 1024;
  }

  [[noreturn]] void fail() const {
    const std::string what = fmt::format(
        "no plan of spmm_tilewise for m={} n={} k={} with {} of {} "
        "weights fits {}; of the closest",
        problem_.m, problem_.n, problem_.k, pattern_.kept(), std::uint64_t{problem_.n} * problem_.k,
        counted(machine_.tiles, "tile"));
    throw UserError(program::overflow_message(what, {&*least_, 1}, machine_));
  }

  const Problem& problem_;
  const TilePattern& pattern_;
  const MachineConfig& machine_;
  Pinned pinned_;
  Cost cost_;
  std::vector<std::vector<std::uint32_t>> singles_;  ///< by column tile and row
  std::vector<std::vector<std::uint32_t>> rows_;     ///< by column tile
  std::uint32_t row_singles_ = 0;
  std::uint32_t widest_ = 1;
  std::uint32_t deepest_ = 0;
  std::optional<Plan> best_;
  std::optional<program::CategoryBytes> least_;
};

}  // namespace

Plan make_plan(const Problem& problem, const TilePattern& pattern, MachineCosts& costs,
               const Pinned& pinned) {
  return Search(problem, pattern, costs, pinned).run();
}

Imbalance kept_rows(const TilePattern& pattern) {
  Imbalance all;
  const std::size_t tiles = pattern.tiles.size() - pattern.overlay_tiles;
  for (std::size_t t = 0; t < tiles; ++t) {
    const auto rows = static_cast<double>(pattern.tiles[t].rows.size());
    all.mean += rows / static_cast<double>(tiles);
    all.max = std::max(all.max, rows);
  }
  return all;
}

}  // namespace tessera::spmm_tilewise
