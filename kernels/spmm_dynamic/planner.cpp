#include <algorithm>
#include <array>
#include <optional>

#include "kernels/spmm_dynamic/plan.h"
#include "sim/base/errors.h"

// The search over grids: the published planner's and ours.
namespace tessera::spmm_dynamic {

namespace {

constexpr std::size_t kPackedGrids = 128;  // of algorithm given

std::uint32_t grains_of(const Problem& problem) {
  return ceil_div(problem.n, column_grain(problem.shape));
}

/// The grid with as many parts of the columns as there are tiles for, none empty.
Grid grid_of(const Problem& problem, std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
  const std::uint32_t grains = grains_of(problem);
  const std::uint32_t each = ceil_div(grains, std::min(most_z, grains));
  return {x, y, ceil_div(grains, each), each * column_grain(problem.shape)};
}

/// Whether fewer parts of `size` would have a larger one.
bool is_fewest(std::uint32_t parts, std::uint32_t size) {
  return parts == ceil_div(size, ceil_div(size, parts));
}

/// The product with W^T.
Problem transposed(const Problem& problem) {
  Problem other = problem;
  std::swap(other.block_rows, other.block_columns);
  other.transposed = !problem.transposed;
  return other;
}

/// The search within one share of the memory.
class Search {
 public:
  Search(const Problem& problem, const Pinned& pinned, const MachineConfig& machine,
         const std::vector<sparse::BlockMatrix>& patterns)
      : problem_(problem), pinned_(pinned), machine_(machine), patterns_(patterns) {
    if (!given()) return;
    for (const sparse::BlockMatrix& w : patterns) maps_.emplace_back(w);
  }

  std::optional<Plan> best() {
    const std::uint32_t least_z = std::max(1U, pinned_.z);
    for (std::uint32_t x = 1; x <= std::min(machine_.tiles / least_z, problem_.block_rows); ++x) {
      if (pinned_.x != 0 && x != pinned_.x) continue;
      const std::uint32_t most_y = std::min(machine_.tiles / (x * least_z), problem_.block_columns);
      for (std::uint32_t y = 1; y <= most_y; ++y) {
        if (pinned_.y != 0 && y != pinned_.y) continue;
        consider(x, y, pinned_.z != 0 ? pinned_.z : machine_.tiles / (x * y));
      }
    }
    if (given()) choose_given();
    return best_;
  }

 private:
  [[nodiscard]] bool given() const { return problem_.algorithm == Algorithm::given; }
  [[nodiscard]] bool published() const { return problem_.algorithm == Algorithm::published; }

  void consider(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    if (published() && !problem_.shape.gradient) return consider_published(x, y, z);
    Grid grid = grid_of(problem_, x, y, z);
    for (const Neighbours neighbours : {Neighbours::share_pool, Neighbours::share_x}) {
      grid.neighbours = neighbours;
      consider(grid, 0);
      if (published()) break;
    }
  }

  /// The published planner serves products with W and with W^T in turn, of which it minimises the
  /// sum (poplibs popsparse/MatMulUtils.cpp: doGradAPass is always set). No two of its numbers of
  /// parts have parts of the same size, and all parts of the columns are of one size.
  void consider_published(std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
    if (pinned_.x == 0 && !is_fewest(x, problem_.block_rows)) return;
    if (pinned_.y == 0 && !is_fewest(y, problem_.block_columns)) return;
    const std::uint32_t grains = grains_of(problem_);
    for (std::uint32_t z = pinned_.z != 0 ? most_z : 1; z <= most_z; ++z) {
      if (pinned_.z == 0 && grains % z != 0) continue;
      Grid grid = grid_of(problem_, x, y, z);
      grid.neighbours = problem_.transposed ? Neighbours::share_nothing : Neighbours::share_x;
      const Problem other = transposed(problem_);
      const PoolShape pool = pool_of(other, grid.transposed(), machine_.tile.contexts);
      if (!fits(other, pool, machine_)) continue;
      const std::uint64_t cycles = predict(other, pool, machine_).cycles;
      consider(grid, cycles + overrated(problem_, grid) + overrated(other, pool.grid));
    }
  }

  /// What the published planner adds to the time of a product. It takes clearing partial results
  /// for a cycle an element (its zeroPartialsCycles computes another number and drops it; papers.md
  /// 1a), and counts the part that a tile adds up itself as received.
  [[nodiscard]] std::uint64_t overrated(const Problem& problem, const Grid& grid) const {
    const Buffers bytes(problem, pool_of(problem, grid, machine_.tile.contexts));
    const std::uint64_t own = std::uint64_t{bytes.part_chunks()} * kChunkBytes;
    return bytes.y / problem.shape.partial_bytes() +
           (bytes.parts > 1 ? own / machine_.fabric.receive_bytes_per_cycle : 0);
  }

  void consider(const Grid& grid, std::uint64_t further_cycles) {
    if (grid.partitions() > kMostPartitions) return;
    Plan plan{pool_of(problem_, grid, machine_.tile.contexts), bucket_blocks(problem_, grid), {}};
    if (!fits(problem_, plan.pool, machine_)) return;
    if (given()) {
      candidates_.push_back({plan, estimated(plan)});
      return;
    }
    plan.prediction = predict(problem_, plan.pool, machine_);
    const std::uint64_t cost = plan.prediction.cycles + further_cycles;
    if (best_ && cost >= best_cost_) return;
    best_ = plan;
    best_cost_ = cost;
  }

  /// Cycles of all patterns, from their counts in cells.
  [[nodiscard]] std::uint64_t estimated(const Plan& plan) const {
    const Grid& grid = plan.pool.grid;
    std::uint64_t cycles = 0;
    for (const LoadMap& map : maps_) {
      const Load load = map.estimate(grid.x, grid.y, plan.bucket_blocks * grid.z);
      cycles += predict(problem_, plan.pool, machine_, &load).cycles;
    }
    return cycles;
  }

  /// Packs the patterns for those grids that are best by estimate.
  void choose_given() {
    const auto few = std::min<std::size_t>(candidates_.size(), kPackedGrids);
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(few),
                      candidates_.end(),
                      [](const Candidate& a, const Candidate& b) { return a.cycles < b.cycles; });
    for (std::size_t i = 0; i < few; ++i) {
      Plan& plan = candidates_[i].plan;
      if (!predict_packed(plan)) continue;
      if (!best_ || plan.prediction.cycles < best_->prediction.cycles) best_ = plan;
    }
  }

  /// Whether the buckets have room; then the prediction is the sum over the patterns.
  bool predict_packed(Plan& plan) const {
    try {
      for (const sparse::BlockMatrix& w : patterns_) {
        const Load load = load_of(pack(w, plan.pool));
        const Prediction one = predict(problem_, plan.pool, machine_, &load);
        plan.prediction.cycles += one.cycles;
        plan.prediction.compute_cycles += one.compute_cycles;
        plan.prediction.exchange_cycles += one.exchange_cycles;
        plan.prediction.sync_cycles += one.sync_cycles;
      }
    } catch (const UserError&) {
      return false;
    }
    return true;
  }

  struct Candidate {
    Plan plan;
    std::uint64_t cycles;
  };

  const Problem& problem_;
  const Pinned& pinned_;
  const MachineConfig& machine_;
  const std::vector<sparse::BlockMatrix>& patterns_;
  std::vector<LoadMap> maps_;  ///< algorithm given: by pattern
  std::vector<Candidate> candidates_;
  std::optional<Plan> best_;
  std::uint64_t best_cost_ = 0;
};

void require_at_most(const char* key, std::uint32_t found, std::uint64_t most) {
  if (found > most)
    throw KeyError(fmt::format("workload.plan.{}", key),
                   fmt::format("found {}, allowed 0 to {}", found, most));
}

}  // namespace

Plan make_plan(const Problem& problem, const Pinned& pinned, const MachineConfig& machine,
               const std::vector<sparse::BlockMatrix>& patterns) {
  const Shape& shape = problem.shape;
  if (shape.block > 1 && !shape.gradient) gemm::require_unit(machine, shape.unit());
  require_at_most("x", pinned.x, std::min(machine.tiles, problem.block_rows));
  require_at_most("y", pinned.y,
                  std::min(machine.tiles / std::max(1U, pinned.x), problem.block_columns));
  require_at_most("z", pinned.z, machine.tiles / (std::max(1U, pinned.x) * std::max(1U, pinned.y)));
  std::optional<Plan> plan = Search(problem, pinned, machine, patterns).best();
  if (!plan && problem.algorithm == Algorithm::published) {
    // As the published planner: runPlanner of poplibs popsparse/FullyConnectedPlan.cpp.
    Problem relaxed = problem;
    relaxed.memory = 1;
    plan = Search(relaxed, pinned, machine, patterns).best();
  }
  if (!plan) {
    throw UserError(fmt::format(
        "workload: no plan of spmm_dynamic fits {} tiles of {} KiB: up to {} blocks of {} x {} in "
        "{} x {} of them, times {} columns",
        machine.tiles, machine.tile.sram_kib, problem.max_blocks, problem.shape.block,
        problem.shape.block, problem.block_rows, problem.block_columns, problem.n));
  }
  if (problem.algorithm == Algorithm::given) return *plan;
  Prediction& p = plan->prediction;
  for (std::uint64_t* cycles :
       std::array{&p.cycles, &p.compute_cycles, &p.exchange_cycles, &p.sync_cycles})
    *cycles *= problem.runs;
  return *plan;
}

}  // namespace tessera::spmm_dynamic
