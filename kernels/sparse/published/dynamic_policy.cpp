#include <cmath>

#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_dynamic/planner.h"

namespace tessera::sparse::published {

using namespace spmm_dynamic;

namespace {

/// Whether fewer parts of `size` would have a larger one.
bool is_fewest(std::uint32_t parts, std::uint32_t size) {
  return parts == ceil_div(size, ceil_div(size, parts));
}

/// The product with W^T.
spmm_dynamic::Problem transposed(const spmm_dynamic::Problem& problem) {
  spmm_dynamic::Problem other = problem;
  std::swap(other.block_rows, other.block_columns);
  other.transposed = !problem.transposed;
  return other;
}

/// Words of lists that a published bucket has room for: those of two sub-groups, and of all rows of
/// the partition with its headroom, though its nonzeros are those of one in z. Source: poplibs
/// popsparse/FullyConnectedPlan.cpp, addMetaInfoElemsPerBucket.
std::uint64_t list_words(const spmm_dynamic::Problem& problem, const PoolShape& pool) {
  const double rows = ceil_div(problem.block_rows, pool.grid.x);
  const double columns = ceil_div(problem.block_columns, pool.grid.y);
  const double density = static_cast<double>(problem.max_blocks) /
                         (static_cast<double>(problem.block_rows) * problem.block_columns);
  const double full_rows = std::ceil(rows * (1 - std::pow(1 - density, columns)));
  const double row_blocks =
      std::ceil(std::ceil(rows * columns * density) / std::max(1.0, full_rows));
  const double lists = std::ceil(full_rows * (2 + row_blocks) * (1 + problem.headroom));
  return 2 * std::uint64_t{pool.group_head_words()} + static_cast<std::uint64_t>(lists);
}

/// For nonzeros that lie evenly, of which nothing spills. It serves products with W and with W^T in
/// turn, of which it minimises the sum (poplibs popsparse/MatMulUtils.cpp: doGradAPass is always
/// set). No two of its numbers of parts have parts of the same size, and all parts of the columns
/// are of one size.
class EvenSearch final : public Search {
 public:
  using Search::Search;

 protected:
  [[nodiscard]] Load expected(const spmm_dynamic::Problem& problem,
                              const Grid& grid) const override {
    const double mean = static_cast<double>(problem.max_blocks) / grid.partitions();
    return {spilling_load(problem, grid, mean).own, {}, 0, 0};
  }

  using Search::consider;
  void consider(std::uint32_t x, std::uint32_t y, std::uint32_t most_z) override {
    if (problem_.shape.gradient) {
      Grid grid = grid_of(problem_, x, y, most_z);
      grid.neighbours = Neighbours::share_pool;
      return consider(grid, 0);
    }
    if (pinned_.x == 0 && !is_fewest(x, problem_.block_rows)) return;
    if (pinned_.y == 0 && !is_fewest(y, problem_.block_columns)) return;
    const std::uint32_t grains = ceil_div(problem_.n, column_grain(problem_.shape));
    for (std::uint32_t z = pinned_.z != 0 ? most_z : 1; z <= most_z; ++z) {
      if (pinned_.z == 0 && grains % z != 0) continue;
      Grid grid = grid_of(problem_, x, y, z);
      grid.neighbours = problem_.transposed ? Neighbours::share_nothing : Neighbours::share_x;
      const spmm_dynamic::Problem other = transposed(problem_);
      const PoolShape pool = pool_of(other, grid.transposed(), cost_.machine().tile.contexts);
      if (!fits(other, pool, cost_.machine())) continue;
      const std::uint64_t cycles = cost_.predict(other, pool, expected(other, pool.grid)).cycles;
      consider(grid, cycles + overrated(problem_, grid) + overrated(other, pool.grid));
    }
  }

 private:
  /// What it adds to the time of a product. It takes clearing partial results for a cycle an
  /// element (its zeroPartialsCycles computes another number and drops it; papers.md 1a), and
  /// counts the part that a tile adds up itself as received.
  [[nodiscard]] std::uint64_t overrated(const spmm_dynamic::Problem& problem,
                                        const Grid& grid) const {
    const Buffers bytes(problem, pool_of(problem, grid, cost_.machine().tile.contexts));
    const std::uint64_t own = std::uint64_t{bytes.part_chunks()} * kChunkBytes;
    return bytes.y / problem.shape.partial_bytes() +
           (bytes.parts > 1 ? own / cost_.machine().fabric.receive_bytes_per_cycle : 0);
  }
};

}  // namespace

ListRoom Policy::list_room() { return list_words; }

std::optional<Plan> Policy::dynamic_plan(const spmm_dynamic::Problem& problem,
                                         const spmm_dynamic::Pinned& pinned, Cost& cost) const {
  if (const std::optional<Plan> plan = EvenSearch(problem, pinned, cost).best()) return plan;
  // What does not fit its share of the memory may take it all: runPlanner of
  // popsparse/FullyConnectedPlan.cpp.
  spmm_dynamic::Problem relaxed = problem;
  relaxed.memory = 1;
  return EvenSearch(relaxed, pinned, cost).best();
}

}  // namespace tessera::sparse::published
