#include "kernels/spmm_static/plan.h"

#include <algorithm>
#include <optional>

#include "sim/base/errors.h"

namespace tessera::spmm_static {

namespace {

// Worker slots of the codelet with dual issue; a test measures them.
constexpr std::uint64_t kWorkerSlots = 16;     // entry to the first pass, and the end
constexpr std::uint64_t kPassSlots = 8;        // set-up and end of a column pass
constexpr std::uint64_t kRowSlots = 10;        // a row beside its nonzeros
constexpr std::uint64_t kNonzeroSlots = 3;     // each nonzero
constexpr std::uint64_t kControlBytes = 4096;  // code, stacks, arguments
constexpr std::uint64_t kControlCycles = 60;  // supervisor code around one exchange and compute set

std::uint64_t pass_slots(std::uint64_t rows, std::uint64_t entries) {
  return kPassSlots + rows * kRowSlots + entries * kNonzeroSlots;
}

/// The first of `parts` + 1 cuts of the rows of `w` from `first` to `last` after which the work is
/// equal.
std::vector<std::uint32_t> balanced_cuts(const sparse::BlockMatrix& w, std::uint32_t first,
                                         std::uint32_t last, std::uint32_t parts) {
  auto work_before = [&](std::uint32_t row) {
    return pass_slots(row - first, w.row_begin[row] - w.row_begin[first]);
  };
  std::vector<std::uint32_t> cuts{first};
  std::uint32_t row = first;
  for (std::uint32_t part = 1; part < parts; ++part) {
    const std::uint64_t target = work_before(last) * part / parts;
    while (row < last && work_before(row) < target) ++row;
    if (row > cuts.back() && work_before(row) - target > target - work_before(row - 1)) --row;
    row = std::max(row, cuts.back());
    cuts.push_back(row);
  }
  cuts.push_back(last);
  return cuts;
}

struct Divided {
  std::vector<WorkerShare> shares;
  std::uint64_t slots;  ///< of the slowest worker
};

/// Splits rows [first, last) x passes over workers: `column_parts` parts of the passes, the rest
/// over rows.
Divided divide(const sparse::BlockMatrix& w, std::uint32_t first, std::uint32_t last,
               std::uint32_t passes, std::uint32_t workers, std::uint32_t column_parts) {
  const std::uint32_t row_parts = workers / column_parts;
  const std::vector<std::uint32_t> cuts = balanced_cuts(w, first, last, row_parts);
  Divided divided{{}, 0};
  for (std::uint32_t part = 0; part < workers; ++part) {
    const std::uint32_t i = part / column_parts;
    const std::uint32_t j = part % column_parts;
    WorkerShare share{0, 0, 0, 0};
    if (i < row_parts) {
      share.first_row = cuts[i] - first;
      share.rows = cuts[i + 1] - cuts[i];
      share.first_pass = passes * j / column_parts;
      share.passes = passes * (j + 1) / column_parts - share.first_pass;
      const std::uint64_t entries = w.row_begin[cuts[i + 1]] - w.row_begin[cuts[i]];
      divided.slots = std::max(divided.slots, worker_slots(share.rows, entries, share.passes));
    }
    if (share.rows == 0 || share.passes == 0) share = {0, 0, 0, 0};
    divided.shares.push_back(share);
  }
  return divided;
}

Divided divide_best(const sparse::BlockMatrix& w, std::uint32_t first, std::uint32_t last,
                    std::uint32_t passes, std::uint32_t workers) {
  std::optional<Divided> best;
  for (std::uint32_t column_parts = 1; column_parts <= workers; ++column_parts) {
    Divided divided = divide(w, first, last, passes, workers, column_parts);
    if (!best || divided.slots < best->slots) best = std::move(divided);
  }
  return *best;
}

std::vector<std::uint32_t> needed_rows(const sparse::BlockMatrix& w, std::uint32_t first,
                                       std::uint32_t last) {
  std::vector<std::uint32_t> needed(
      w.column.begin() + static_cast<std::ptrdiff_t>(w.row_begin[first]),
      w.column.begin() + static_cast<std::ptrdiff_t>(w.row_begin[last]));
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

class Planner {
 public:
  Planner(const sparse::BlockMatrix& w, std::uint32_t n, std::uint32_t element_bytes,
          const MachineConfig& machine)
      : w_(w), machine_(machine), pass_columns_(kPassBytes / element_bytes), n_(n) {}

  [[nodiscard]] std::uint32_t most_slices() const { return ceil_div(n_, pass_columns_); }

  /// The plan of these cuts, or nothing if a tile cannot hold it.
  [[nodiscard]] std::optional<Plan> plan(std::uint32_t slices, std::uint32_t groups) const {
    const std::uint32_t passes = ceil_div(most_slices(), slices);
    Plan plan{slices, passes * pass_columns_, {}, {}};
    std::uint64_t slots = 0;
    std::size_t most_needed = 0;
    const std::vector<std::uint32_t> cuts = balanced_cuts(w_, 0, w_.rows, groups);
    for (std::uint32_t g = 0; g < groups; ++g) {
      if (cuts[g] == cuts[g + 1]) continue;
      Divided divided = divide_best(w_, cuts[g], cuts[g + 1], passes, machine_.tile.contexts);
      slots = std::max(slots, divided.slots);
      plan.groups.push_back({cuts[g], cuts[g + 1] - cuts[g], needed_rows(w_, cuts[g], cuts[g + 1]),
                             std::move(divided.shares)});
      most_needed = std::max(most_needed, plan.groups.back().needed.size());
      if (!fits(plan.groups.back(), passes, groups)) return std::nullopt;
    }
    predict(plan, slots, std::uint64_t{most_needed} * passes * kPassBytes);
    return plan;
  }

 private:
  /// Whether indices in 64-bit words reach all needed rows and a tile's SRAM holds its parts.
  [[nodiscard]] bool fits(const RowGroup& group, std::uint32_t passes, std::uint32_t groups) const {
    const std::uint64_t slice_bytes = std::uint64_t{passes} * kPassBytes;
    const std::uint64_t needed = group.needed.size() * slice_bytes;
    const std::uint64_t own = ceil_div<std::uint64_t>(w_.columns, groups) * slice_bytes;
    const std::uint64_t entries =
        w_.row_begin[group.first_row + group.rows] - w_.row_begin[group.first_row];
    const std::uint64_t weights = entries * (2 + kPassBytes / pass_columns_) + 2 * group.rows;
    const std::uint64_t descriptors = 16 * (group.needed.size() + ceil_div(w_.columns, groups));
    const std::uint64_t total =
        needed + own + weights + descriptors + group.rows * slice_bytes + kControlBytes;
    return needed / 8 <= 0xffff && total <= std::uint64_t{machine_.tile.sram_kib} * 1024;
  }

  void predict(Plan& plan, std::uint64_t slots, std::uint64_t received_bytes) const {
    const SupervisorCosts& costs = machine_.tile.supervisor;
    Prediction& p = plan.prediction;
    p.compute_cycles = slots * machine_.tile.contexts + costs.launch_cycles + costs.join_cycles +
                       std::uint64_t{costs.launch_stagger_cycles} * (machine_.tile.contexts - 1) +
                       kControlCycles;
    p.exchange_cycles =
        machine_.fabric.fixed_cycles +
        ceil_div<std::uint64_t>(received_bytes, machine_.fabric.receive_bytes_per_cycle);
    p.sync_cycles = std::uint64_t{2} * machine_.sync.chip_cycles;
    p.cycles = p.compute_cycles + p.exchange_cycles + p.sync_cycles;
  }

  const sparse::BlockMatrix& w_;
  const MachineConfig& machine_;
  std::uint32_t pass_columns_;
  std::uint32_t n_;
};

}  // namespace

std::uint64_t worker_slots(std::uint64_t rows, std::uint64_t entries, std::uint64_t passes) {
  return kWorkerSlots + passes * pass_slots(rows, entries);
}

namespace {

void require_at_most(std::string_view key, std::uint32_t found, std::uint32_t most) {
  if (found <= most) return;
  throw UserError(fmt::format("workload.plan.{}: found {}, allowed 0 to {}", key, found, most));
}

}  // namespace

Plan make_plan(const sparse::BlockMatrix& w, std::uint32_t n, std::uint32_t element_bytes,
               const MachineConfig& machine, const Pinned& pinned) {
  const Planner planner(w, n, element_bytes, machine);
  require_at_most("slices", pinned.slices, std::min(planner.most_slices(), machine.tiles));
  require_at_most("groups", pinned.groups,
                  std::min(machine.tiles / std::max(1u, pinned.slices), w.rows));
  const std::uint32_t most_slices =
      std::min(planner.most_slices(), machine.tiles / std::max(1u, pinned.groups));
  std::optional<Plan> best;
  for (std::uint32_t slices = 1; slices <= most_slices; ++slices) {
    if (pinned.slices != 0 && slices != pinned.slices) continue;
    const std::uint32_t most_groups = std::min(machine.tiles / slices, w.rows);
    std::optional<Plan> plan =
        planner.plan(slices, pinned.groups != 0 ? pinned.groups : most_groups);
    if (plan && (!best || plan->prediction.cycles < best->prediction.cycles))
      best = std::move(plan);
  }
  if (!best) {
    throw UserError(
        fmt::format("workload: no plan of spmm_static fits {} tiles of {} KiB: {} x {} with {} "
                    "nonzeros times {} columns",
                    machine.tiles, machine.tile.sram_kib, w.rows, w.columns, w.blocks(), n));
  }
  return *std::move(best);
}

}  // namespace tessera::spmm_static
