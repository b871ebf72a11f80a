#include <algorithm>
#include <iterator>
#include <vector>

#include "kernels/gemm/outside.h"
#include "kernels/planned.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/machine/nodes.h"

namespace tessera::gemm {

namespace {

/// The candidate blocks of a product.
std::vector<BlockShape> blocks_of(const Problem& problem, Type partials) {
  std::vector<BlockShape> blocks = kernels::block_shapes(problem.unit, problem.dtype, partials);
  std::erase_if(blocks, [&](const BlockShape& block) {
    return problem.grain % block.depth != 0 || problem.grain % block.columns != 0;
  });
  return blocks;
}

/// Candidate numbers of K-steps: all up to 8, then with growing gaps.
std::vector<std::uint32_t> numbers_of_cuts(std::uint32_t most) {
  std::vector<std::uint32_t> cuts;
  for (std::uint32_t c = 1; c <= most; c = std::max(c + 1, c + c / 8)) cuts.push_back(c);
  return cuts;
}

/// Candidate rounds of k: 1 and even numbers, so that two sets of arrays alternate; all powers of
/// two and up to seven numbers between each and the next.
std::vector<std::uint32_t> numbers_of_rounds(std::uint32_t most) {
  std::vector<std::uint32_t> rounds{1};
  for (std::uint64_t power = 2; power <= most; power *= 2)
    for (std::uint64_t r = power; r < 2 * power && r <= most;
         r += std::max<std::uint64_t>(2, power / 8))
      rounds.push_back(static_cast<std::uint32_t>(r));
  return rounds;
}

/// A plan that fits is better than one that does not; among those that do not fit, the one that
/// needs less memory. Memory 0 means more than 32 bits can address.
bool is_better(const plan::Found& a, const plan::Found& b) {
  if (a.fits != b.fits) return a.fits;
  if (a.fits) return a.prediction.cycles < b.prediction.cycles;
  const auto bytes = [](const plan::Found& found) {
    const std::uint64_t all = program::total(found.memory);
    return all == 0 ? UINT64_MAX : all;
  };
  return bytes(a) < bytes(b);
}

using Choice = kernels::Choice<Plan>;

/// The search over all plans of a problem: options are grids of parts, variants are K-steps; with
/// external operands, options also include rounds of m and n, and variants are rounds of k.
class PlanSearch {
 public:
  PlanSearch(const Problem& problem, MachineCosts& costs)
      : problem_(problem),
        pricing_(costs),
        plans_(pricing_),
        functions_(code_, plans_.shell(), costs.machine().tile.contexts),
        cuts_(problem.outside ? numbers_of_rounds(problem.product.k)
                              : numbers_of_cuts(problem.product.k)) {}

  Choice best() {
    problem_.outside ? add_all_rounds() : add_all();
    Choice best = best_added();
    while (take_left_out(best.found)) {
      const Choice other = best_added();
      if (is_better(other.found, best.found)) best = other;
    }
    return best;
  }

 private:
  Choice best_added() {
    const auto described = [this](const Plan& plan) {
      return gemm::described(problem_, plan, machine(), code_);
    };
    plan::Space space;
    space.reserved = problem_.reserved;
    return kernels::best_of(
        plans_, [this](const Plan& plan) { return least_bytes(plan); }, described, space);
  }

  [[nodiscard]] const MachineConfig& machine() const { return plans_.machine(); }
  [[nodiscard]] std::uint64_t least_bytes(const Plan& plan) const {
    const Geometry geometry = geometry_of(problem_, plan);
    const std::uint32_t tiles = machine().tiles;
    std::uint64_t bytes = geometry.y_bytes(kFullest);
    for (const Side side : kSides) {
      bytes += stored_bytes(geometry.bytes(side), tiles);
      // A single tile does not load what it stores.
      if (tiles > 1) bytes += geometry.bytes(side, kFullest, 0);
    }
    return bytes;
  }

  /// Adds all plans that the machine's tiles allow; `rounds`: numbers of rounds of m and n.
  void add_all(const std::optional<Rounds>& rounds = {}) {
    for (const Type partials : {Type::f16, Type::f32}) {
      if (problem_.dtype == Type::f32 && partials == Type::f16) continue;
      if (!problem_.any_partials && partials != problem_.partials) continue;
      for (const Stationary stationary : {Stationary::a, Stationary::b})
        if (allows(problem_.layout, stationary)) add_blocks(partials, stationary, rounds);
    }
  }

  /// Adds plans for numbers of rounds of m and n for which a pass's sums fit the tiles: more rounds
  /// move more bytes, so only few beyond the first that fit are tried.
  void add_all_rounds() {
    constexpr std::uint64_t kBeyond = 8;
    const Product& all = problem_.product;
    const std::uint64_t room = std::uint64_t{machine().tiles} * machine().tile.sram_kib * 1024;
    const std::uint64_t least_sums = std::uint64_t{all.m} * all.n * data::element_bytes(Type::f16);
    const std::uint64_t least = ceil_div(least_sums, room);
    for (const std::uint32_t m : numbers_of_cuts(all.m))
      for (const std::uint32_t n : numbers_of_cuts(all.n)) {
        const std::uint64_t passes = std::uint64_t{m} * n;
        if (passes < least || passes > kBeyond * least) continue;
        add_all(Rounds{m, n, 1});
      }
  }

  /// Replaces the plans by those of the fastest blocks left out so far. False if there are none,
  /// none is likely to be faster than `found`, or they have too many plans to search.
  bool take_left_out(const plan::Found& found) {
    // Blocks whose products alone take half of `found`'s cycles hardly ever give a faster plan.
    const std::uint64_t limit = found.fits ? found.prediction.cycles / 2 : plan::kNoLimit;
    std::uint64_t least = limit;
    for (const Blocks& each : left_out_) least = std::min(least, each.least);
    if (least == limit) return false;
    const auto next =
        std::stable_partition(left_out_.begin(), left_out_.end(),
                              [&](const Blocks& each) { return each.least > least + least / 4; });
    plans_.clear();
    std::for_each(next, left_out_.end(), [&](const Blocks& each) { add_grids(each); });
    left_out_.erase(next, left_out_.end());
    again_ += plans_.bounds().size();
    if (again_ > kMostAgain) return false;
    return !plans_.bounds().empty() || take_left_out(found);
  }

  /// A plan with `cuts` K-steps or rounds of k.
  static Plan with_cuts(Plan plan, std::uint32_t cuts) {
    (plan.rounds ? plan.rounds->k : plan.cuts) = cuts;
    return plan;
  }

  /// Numbers of rounds of k from the plan's to below twice that, without unneeded rounds.
  [[nodiscard]] std::vector<std::uint32_t> rounds_from(Plan plan, std::uint32_t most) const {
    const auto first = std::ranges::lower_bound(cuts_, plan.rounds->k);
    const auto last = std::ranges::upper_bound(cuts_, std::min(most, 2 * plan.rounds->k - 1));
    std::vector<std::uint32_t> rounds;
    std::copy_if(first, last, std::back_inserter(rounds), [&](std::uint32_t k) {
      plan.rounds->k = k;
      return RoundGrid(problem_, plan).needs_all();
    });
    return rounds;
  }

  void add(const Plan& plan, std::uint32_t most, const plan::Function& product) {
    if (plan.rounds) return add_rounds(plan, most, product);
    const auto numbers = std::ranges::upper_bound(cuts_, most) - cuts_.begin();
    plans_.add_variants(
        static_cast<std::uint32_t>(numbers),
        [this, plan](std::uint32_t i) { return with_cuts(plan, cuts_[i]); },
        exceeds_memory_ ? plan::kNoLimit : bound(geometry_of(problem_, plan), product));
  }

  /// Adds an option for each power of two of rounds of k, with the numbers up to the next power as
  /// variants: if loads overlap rounds, more rounds may be faster.
  void add_rounds(Plan plan, std::uint32_t most, const plan::Function& product) {
    const std::uint64_t passes = std::uint64_t{plan.rounds->m} * plan.rounds->n;
    const std::uint64_t computing = passes * bound(geometry_of(problem_, plan), product);
    const auto [read, written] = outside_traffic(problem_, plan);
    for (plan.rounds->k = 1; plan.rounds->k <= most; plan.rounds->k *= 2) {
      const std::vector<std::uint32_t> numbers = rounds_from(plan, most);
      if (numbers.empty()) continue;
      const std::uint64_t turns = passes * (2 * plan.rounds->k - 1);
      for (const kernels::Loads loads : kernels::loads_for(turns, machine().tile)) {
        plan.rounds->loads = loads;
        plans_.add_variants(
            word(numbers.size()), [=](std::uint32_t i) { return with_cuts(plan, numbers[i]); },
            kernels::least_cycles(machine(), loads, turns, computing, read + written));
      }
    }
  }

  /// The plans of one block shape.
  struct Blocks {
    BlockShape block;
    Stationary stationary;
    std::optional<Rounds> rounds;
    std::uint64_t least = 0;  ///< lower bound on cycles
  };

  /// Adds plans of blocks that may be faster than previous ones; leaves out others.
  void add_blocks(Type partials, Stationary stationary, const std::optional<Rounds>& rounds) {
    for (const BlockShape& block : blocks_of(problem_, partials)) {
      Blocks one{block, stationary, rounds};
      for (; seen_ < plans_.bounds().size(); ++seen_)
        best_ = std::min(best_, plans_.bounds()[seen_]);
      if (seen_ > 0) one.least = least_cycles(block, stationary);
      if (one.least <= best_ + best_ / 4)
        add_grids(one);
      else
        left_out_.push_back(one);
    }
  }

  void add_grids(const Blocks& of) {
    const auto& [block, stationary, rounds, least] = of;
    const std::uint32_t tiles = machine().tiles;
    Plan plan;
    plan.rounds = rounds;
    plan.partials = block.partial;
    plan.stationary = stationary;
    plan.unit = block.form();
    const RoundGrid grid(problem_, plan);
    if (!grid.needs_all()) return;
    const Product most = most_parts(grid.problem().product, block, stationary);
    const plan::Function& product = functions_.product(block, false);
    // If rounds divide k and parts of m and n suffice for all tiles, parts of k gain nothing.
    const bool enough = rounds && std::uint64_t{most.m} * most.n >= tiles;
    for (plan.split_k = 1; plan.split_k <= (enough ? 1 : std::min(most.k, tiles)); ++plan.split_k) {
      if (!worth(most.k, plan.split_k)) continue;
      const std::uint32_t layer = tiles / plan.split_k;
      for (plan.split_n = 1; plan.split_n <= std::min(most.n, layer); ++plan.split_n) {
        if (stationary == Stationary::b && !worth(most.n, plan.split_n)) continue;
        plan.split_m = std::min(most.m, layer / plan.split_n);
        for (const std::uint32_t even : {0U, 1U}) {
          if (even == 1 && (plan.split_m < 2 || plan.split_m % 2 == 0)) break;
          plan.split_m -= even;
          for (const Stationary pairs : {Stationary::a, Stationary::b}) {
            plan.pairs = pairs;
            add(plan, most.k / plan.split_k, product);
          }
        }
      }
    }
  }

  /// Lower bound on cycles of products with these blocks: all tiles share the blocks evenly, and
  /// each run past a block streams all rows.
  [[nodiscard]] std::uint64_t least_cycles(const BlockShape& block, Stationary stationary) {
    const Roles its = roles(problem_.product, stationary);
    const std::uint64_t blocks =
        std::uint64_t{ceil_div(its.columns, block.columns)} * ceil_div(its.depth, block.depth);
    return blocks *
           least_run(pricing_, plans_.shell(), functions_.product(block, false), its.rows) /
           machine().tiles;
  }

  /// True if the last added part makes the largest part smaller.
  static bool worth(std::uint32_t blocks, std::uint32_t parts) {
    return parts == 1 || ceil_div(blocks, parts) < ceil_div(blocks, parts - 1);
  }

  /// Lower bound on cycles: the fullest tile's product in one superstep, and the exchange for it.
  [[nodiscard]] std::uint64_t bound(const Geometry& geometry, const plan::Function& product) {
    std::uint64_t alone = geometry.bytes(Side::w, kFullest, 0);
    std::uint64_t shared = geometry.bytes(Side::x, kFullest, 0);
    if (!geometry.pairs_share_x()) std::swap(alone, shared);
    const ExchangeLoad load{0, alone, shared, geometry.tiles()};
    return plans_.costs().exchange(load) + least_product(product, geometry.rows(0).size(),
                                                         geometry.column_blocks(0).size(),
                                                         geometry.depth_blocks(0).size());
  }

  /// Lower bound on the cycles of a product. If contexts compete for a pipeline every size would
  /// have to be measured: then extrapolates from the first block and a second one in columns or
  /// depth, less 1 / kLess, since further ones may take less.
  [[nodiscard]] std::uint64_t least_product(const plan::Function& product, std::uint64_t rows,
                                            std::uint64_t columns, std::uint64_t depth) {
    constexpr std::uint64_t kLess = 8;
    const auto cycles = [&](std::uint64_t c, std::uint64_t d) {
      return plans_.call(product, {rows, c, d});
    };
    if (!plans_.costs().workers_compete()) return cycles(columns, depth);
    const std::uint64_t one = cycles(1, 1);
    std::uint64_t all = one;
    if (columns > 1) all += (columns - 1) * (std::max(one, cycles(2, 1)) - one);
    if (depth > 1) all += columns * (depth - 1) * (std::max(one, cycles(1, 2)) - one);
    return all - all / kLess;
  }

  /// True if operands and result exceed the SRAM of all tiles: no plan fits, and the products of
  /// bounds, which are measured, would take seconds.
  [[nodiscard]] bool exceeds_memory() const {
    const Product& all = problem_.product;
    const std::uint64_t elements =
        std::uint64_t{all.m} * all.k + std::uint64_t{all.k} * all.n + std::uint64_t{all.m} * all.n;
    return !problem_.outside && elements * data::element_bytes(problem_.dtype) >
                                    machine().tiles * sram_bytes(machine().tile);
  }

  const Problem& problem_;
  plan::Pricing pricing_;
  kernels::Plans<Plan> plans_;
  const bool exceeds_memory_ = exceeds_memory();
  elf::KernelCode code_{"gemm"};
  Functions functions_;
  std::vector<std::uint32_t> cuts_;  ///< candidate K-steps or rounds of k
  std::vector<Blocks> left_out_;
  static constexpr std::size_t kMostAgain = 1'000;  ///< at most a second of CPU time
  std::size_t again_ = 0;                           ///< plans added for blocks that were left out
  std::uint64_t best_ = UINT64_MAX / 2;             ///< smallest of the first `seen_` bounds
  std::size_t seen_ = 0;
};

std::string misfit(const Problem& problem, const Plan& closest, program::CategoryBytes need,
                   const MachineConfig& machine) {
  const Product& p = problem.product;
  need[static_cast<std::size_t>(program::Category::tensors)] += problem.reserved;
  return kernels::no_plan_fits(fmt::format("gemm for m={} n={} k={}", p.m, p.n, p.k),
                               config::resolved(closest), need, machine);
}

}  // namespace

Candidate find_plan(const Problem& problem, MachineCosts& costs) {
  const auto [plan, found] = PlanSearch(problem, costs).best();
  return {plan, found.prediction, program::total(found.memory),
          found.fits ? std::string() : misfit(problem, plan, found.memory, costs.machine())};
}

Candidate choose_plan(const Problem& problem, MachineCosts& costs) {
  Candidate found = find_plan(problem, costs);
  if (!found.misfit.empty()) throw UserError(found.misfit);
  return found;
}

}  // namespace tessera::gemm
