#include "kernels/spmm_static/search.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_static/program.h"
#include "sim/base/counted.h"

namespace tessera::spmm_static {

namespace {

/// Estimates of partitions take time per block: limits of their blocks in all and of their number.
constexpr std::uint64_t kBlocksEstimated = 6'000'000;
constexpr std::uint64_t kLeastEstimates = 6;
constexpr std::uint64_t kMostEstimates = 120;
/// Distance between tried cuts, in the order of their expected time: neighbours are alike.
constexpr std::size_t kApart = 3;
/// Bytes of options that are not valid plans.
constexpr std::uint64_t kNever = std::uint64_t{1} << 62;

/// Cycles of a tile's product, in addition to `beside` other cycles.
using ProductCycles = std::function<std::uint64_t(const TileWork& work, std::uint64_t beside)>;

/// Prices each tile as if it received its rows of X separately.
Planner our_planner(Cost& cost, const ProductCycles& product) {
  const auto price = [&cost, product](const TileWork& work, bool shares_values) -> Expected {
    const auto received = [&](std::uint64_t bytes) {
      return cost.pricing().costs().exchange({0, bytes, 0, cost.machine().tiles});
    };
    std::uint64_t cycles = received(work.x_bytes() + (shares_values ? work.value_bytes() : 0)) +
                           received(work.partial_bytes());
    if (work.partial_rows > 1)
      cycles += cost.adding(ceil_div(work.q_bytes() / 8, work.partial_rows), work.partial_rows);
    cycles += product(work, cycles);
    const std::uint64_t lists = 2 * (work.blocks + work.rows);
    return {cycles, std::max(work.x_bytes() + work.value_bytes() + work.q_bytes() + lists,
                             work.partial_bytes() + work.q_bytes())};
  };
  return {cost.machine().tiles, false, price};
}

/// Searches options, which are cuts: those with the fewest expected cycles, those of the published
/// planner, and neighbours of the best ones.
class Search {
 public:
  Search(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n, Cost& cost,
         const Pinned& pinned, const Reservation& around)
      : w_(w),
        n_(n),
        cost_(cost),
        pinned_(pinned),
        around_(around),
        policy_(cost.machine()),
        rounds_(w, shape, n, cost.machine(), pinned, around),
        planner_(our_planner(cost, [this](const TileWork& work, std::uint64_t beside) {
          return product(work, beside);
        })) {}

  Plan best() {
    if (pinned_.parts != 0 && pinned_.bands != 0)
      for (const Cuts& cuts : rounds_.all()) add_dealings(cuts, 0);
    else
      add_likely_cuts();
    if (around_.outside) return found("the machine has room", rounds_.room());
    if (std::optional<Cuts> cuts = published_cuts().cuts) {
      add(*cuts, 0);
      if (!pinned_.sums) cuts->sums = Sums::home;
      add(*cuts, 0);
    }
    return found("the machine has room", rounds_.room());
  }

  Plan published() {
    const auto [cuts, closest] = published_cuts();
    if (cuts || closest) add(cuts.value_or(*closest), 0);
    allowed_ = cuts.has_value();
    return found("the published planner (plan.algorithm = best does not) keeps",
                 policy_.planned_bytes());
  }

 private:
  /// The cuts that the published planner chooses; pinned numbers (not 0) are taken as they are.
  [[nodiscard]] sparse::published::Policy::Found published_cuts() const {
    sparse::published::Policy::Found found{Cuts{pinned_.parts, pinned_.bands}, std::nullopt};
    if (pinned_.parts == 0 || pinned_.bands == 0)
      found = policy_.static_cuts(problem_, *found.cuts);
    for (std::optional<Cuts>* cuts : {&found.cuts, &found.closest}) {
      if (!*cuts) continue;
      (*cuts)->dealing = pinned_.dealing.value_or(Dealing::blocks);
      (*cuts)->sums = pinned_.sums.value_or(Sums::placed);
    }
    return found;
  }

  std::size_t number(const Cuts& cuts) {
    const auto [known, is_new] = numbers_.try_emplace(cuts, options_.size());
    if (is_new) options_.push_back(cuts);
    return known->second;
  }
  void add(const Cuts& cuts, std::uint64_t expected) {
    if (number(cuts) == bounds_.size()) bounds_.push_back(expected);
  }
  void add_dealings(const Cuts& cuts, std::uint64_t expected) {
    for (const Cuts& one : dealings(cuts)) add(one, expected);
  }

  /// Cuts and their expected cycles if each tile receives what it needs separately.
  struct Likely {
    std::uint64_t cycles;
    std::size_t number, round;
    Cuts cuts;
  };
  static bool sooner(const Likely& a, const Likely& b) {
    return std::pair(a.cycles, a.number) < std::pair(b.cycles, b.number);
  }

  void add_likely_cuts() {
    const std::vector<Cuts> ways = rounds_.all();
    std::vector<Problem> rounds;
    rounds.reserve(ways.size());
    for (const Cuts& way : ways) rounds.push_back(rounds_.round_of(way));
    std::optional<Cuts> closest;
    std::vector<Likely> all = guessed(ways, rounds, closest);
    if (all.empty() && closest) return add_dealings(*closest, 0);
    expect_all(all, rounds);
    for (std::size_t i = 0; i < all.size() && bounds_.size() < kMostEstimates; i += kApart)
      add_dealings(all[i].cuts, all[i].cycles);
  }

  /// All cuts that fit, sorted by guessed cycles: products are scaled from one that was measured.
  /// `closest`: the cuts with the fewest bytes.
  std::vector<Likely> guessed(const std::vector<Cuts>& ways, const std::vector<Problem>& rounds,
                              std::optional<Cuts>& closest) {
    std::optional<double> each;  // cycles of a block times a column
    const Planner planner = our_planner(cost_, [&](const TileWork& work, std::uint64_t) {
      const auto size = static_cast<double>(work.blocks) * work.width;
      if (!each) each = static_cast<double>(product(work)) / std::max(size, 1.0);
      return static_cast<std::uint64_t>(*each * size);
    });
    std::vector<Likely> all;
    std::uint64_t least_bytes = ~std::uint64_t{0};
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      for_all_cuts(rounds[round], cost_.machine().tiles, ways[round], planner,
                   [&](const Cuts& cuts, const Expected& one) {
                     if (one.bytes <= rounds_.room())
                       all.push_back({rounds_.expected(cuts, one.cycles), all.size(), round, cuts});
                     if (one.bytes < least_bytes) closest = cuts;
                     least_bytes = std::min(least_bytes, one.bytes);
                   });
    }
    std::ranges::sort(all, sooner);
    return all;
  }

  /// Replaces guesses by expected cycles and sorts; the first kWanted are then exact and in order.
  void expect_all(std::vector<Likely>& all, const std::vector<Problem>& rounds) {
    constexpr std::size_t kWanted = kApart * kMostEstimates;
    std::priority_queue<std::uint64_t> least;  // kWanted lowest cycles
    for (Likely& one : all) {
      asked_ = &one.cuts;
      if (least.size() == kWanted) limit_ = least.top();
      const auto found = expect(rounds[one.round], cost_.machine().tiles, one.cuts, planner_);
      one.cycles = rounds_.expected(one.cuts, found.value().cycles);
      least.push(one.cycles);
      if (least.size() > kWanted) least.pop();
    }
    std::ranges::sort(all, sooner);
  }

  std::uint64_t product(const TileWork& work) {
    return cost_.product(work.rows, std::max(work.blocks, work.rows), work.width);
  }
  /// Cycles of a tile for the cuts `asked_`; only a lower bound if that alone exceeds `limit_`.
  std::uint64_t product(const TileWork& work, std::uint64_t beside) {
    const std::uint64_t least =
        cost_.product_at_least(work.rows, std::max(work.blocks, work.rows), work.width);
    return rounds_.expected(*asked_, beside + least) > limit_ ? least : product(work);
  }

  /// The distributions of blocks that may be best for these cuts.
  [[nodiscard]] std::vector<Cuts> dealings(const Cuts& cuts) const {
    std::vector<Cuts> all;
    for (const Dealing dealing : {Dealing::blocks, Dealing::work, Dealing::rows}) {
      if (pinned_.dealing && dealing != *pinned_.dealing) continue;
      // Blocks take equally long in any row; whole rows save additions if there is one band.
      const bool elements = problem_.shape.block == 1;
      if (!pinned_.dealing && dealing == Dealing::work && !elements) continue;
      if (!pinned_.dealing && dealing == Dealing::rows && cuts.bands > 1) continue;
      all.push_back(cuts);
      all.back().dealing = dealing;
      all.back().sums = pinned_.sums.value_or(Sums::home);
    }
    return all;
  }

  /// Neighbouring cuts, and the same cuts with placed sums.
  std::vector<std::size_t> alike(const Cuts cuts) {
    std::vector<std::size_t> found;
    const Cuts most = most_cuts(rounds_.round_of(cuts), planner_);
    const auto add = [&](std::uint32_t parts, std::uint32_t bands) {
      if (parts == 0 || parts > most.parts || (pinned_.parts != 0 && parts != pinned_.parts))
        return;
      if (bands == 0 || bands > most.bands || (pinned_.bands != 0 && bands != pinned_.bands))
        return;
      Cuts near = cuts;
      near.parts = parts;
      near.bands = bands;
      for (const Cuts& one : dealings(near)) found.push_back(number(one));
    };
    const std::uint32_t parts = cuts.parts;
    const std::uint32_t bands = cuts.bands;
    add(parts, 1);
    for (const std::uint32_t near : {bands - 1, bands + 1, bands / 2, bands * 2}) add(parts, near);
    for (const std::uint32_t near : {parts - 1, parts + 1, parts / 2, parts * 2}) add(near, bands);
    add(parts * 2, ceil_div(bands, 2U));
    add(ceil_div(parts, 2U), bands * 2);
    Cuts placed = cuts;
    placed.sums = Sums::placed;
    if (!pinned_.sums) found.push_back(number(placed));
    for (const Cuts& way : rounds_.all()) {
      if (way.rounds > 2 * cuts.rounds || cuts.rounds > 2 * way.rounds) continue;
      Cuts other = cuts;
      other.rounds = way.rounds;
      other.row_parts = way.row_parts;
      other.loads = way.loads;
      if (around_.outside) found.push_back(number(other));
    }
    return found;
  }

  /// The partitions of an option, one per part of the rows of W; those of the last option are
  /// cached.
  std::vector<Partition>& candidate(std::size_t option) {
    if (candidate_ && candidate_->first == option) return candidate_->second;
    const Cuts& cuts = options_[option];
    candidate_ = std::make_unique<std::pair<std::size_t, std::vector<Partition>>>();
    candidate_->first = option;
    for (const sparse::BlockMatrix& part : rounds_.parts_of(cuts.row_parts)) {
      Partition& its = candidate_->second.emplace_back(
          make_partition(part, problem_.shape, cuts.rounds > 1 ? rounds_.columns(cuts.rounds) : n_,
                         cost_.machine().tiles, cuts, cost_.elements(), around_.x));
      if (cuts.sums == Sums::placed) its.placement = policy_.placement();
      if (problem_.shape.block > 1 && !problem_.shape.on_unit())
        for (const Part& cut : its.parts) {
          std::size_t rows = 0;
          for (const Share& share : its.layer(cut).shares) rows = std::max(rows, share.rows.size());
          its.sharings[cut.width()] = cost_.sharings(cut.width(), rows);
        }
    }
    return candidate_->second;
  }
  /// True if all placed sums are at home, which equals another option.
  [[nodiscard]] bool is_home(const Partition& partition) const {
    return partition.placement && pinned_.algorithm == Algorithm::best && !pinned_.sums &&
           !Reduction(partition).spreads();
  }
  [[nodiscard]] std::uint64_t least_bytes(std::size_t option) {
    std::uint64_t most = 0;
    for (const Partition& partition : candidate(option)) {
      const std::uint64_t its = least_bytes(partition, option);
      if (its == kNever) return kNever;
      most = std::max(most, its);
    }
    return most;
  }
  [[nodiscard]] std::uint64_t least_bytes(const Partition& partition, std::size_t option) {
    if (partition.parts.empty() || is_home(partition)) return kNever;
    std::uint64_t most = 0;
    bool named = true;  // lists can name every place
    for (const Part& part : partition.parts)
      for (const Share& share : partition.layer(part).shares) {
        most = std::max(most, partition.x_bytes(part, share) + partition.value_bytes(share) +
                                  share.rows.size() * partition.row_bytes(part));
        named = named && (share.columns.size() - 1) * partition.block_bytes(part) / 8 <= 0xffff;
      }
    if (named || most > rounds_.room()) return most;
    unnamed_ = options_[option];
    return kNever;
  }

  Plan found(const char* whose, std::uint64_t budget) {
    if (options_.empty())
      return {
          pinned_.algorithm, {}, {}, {}, misfit() + ": its bands and intervals need more tiles"};
    plan::Space space;
    space.bounds = bounds_;
    space.describe = [this](std::size_t option, std::uint32_t) {
      const std::uint32_t contexts = cost_.machine().tile.contexts;
      const std::vector<Partition>& parts = candidate(option);
      return around_.outside ? describe_rounds(parts, rounds_.parts_of(options_[option].row_parts),
                                               w_, nullptr, cost_.code(), contexts)
                             : describe_program(parts.front(), w_, nullptr, cost_.code(), contexts);
    };
    space.least_bytes = [this](std::size_t option) { return least_bytes(option); };
    space.reserved = around_.beside;
    space.schedules = around_.schedules;
    if (pinned_.algorithm == Algorithm::best)
      space.alike = [this](std::size_t option) { return alike(options_[option]); };
    space.most_estimated =
        std::clamp(kBlocksEstimated / std::max<std::uint64_t>(problem_.blocks, 1), kLeastEstimates,
                   kMostEstimates);
    const plan::Found best = plan::search(space, cost_.pricing());
    std::vector<Partition>& parts = candidate(best.option);
    Plan plan{pinned_.algorithm, std::move(parts.front()), best.prediction, best.memory, {}};
    plan.below.assign(std::make_move_iterator(parts.begin() + 1),
                      std::make_move_iterator(parts.end()));
    plan.outside = around_.outside;
    if (!best.fits || !allowed_) plan.misfit = why(plan, whose, budget);
    return plan;
  }

  [[nodiscard]] std::string misfit() const {
    return fmt::format("{}: {} x {} with {} of {} times {} does not fit {}", around_.kernel,
                       w_.rows, w_.columns, counted(w_.blocks(), "block"), w_.block,
                       counted(n_, "column"), counted(cost_.machine().tiles, "tile"));
  }
  [[nodiscard]] std::string why(const Plan& plan, const char* whose, std::uint64_t budget) const {
    if (unnamed_)
      return fmt::format(
          "{}: with {} parts and {} bands a tile needs more than 65536 words of X, which is what "
          "work lists of 16-bit numbers can name",
          misfit(), unnamed_->parts, unnamed_->bands);
    const Cuts& cuts = plan.partition.cuts;
    if (plan.partition.parts.empty()) return misfit() + ": its bands and intervals need more tiles";
    const std::string rounds =
        around_.outside
            ? fmt::format(" in {}", counted(std::uint64_t{cuts.rounds} * cuts.row_parts, "round"))
            : "";
    const std::string what = fmt::format("{}; closest plan: {} parts and {} bands{}", misfit(),
                                         cuts.parts, cuts.bands, rounds);
    program::CategoryBytes need = plan.memory;
    need[static_cast<std::size_t>(program::Category::tensors)] += around_.beside;
    if (program::total(need) <= rounds_.room() + around_.beside)
      return fmt::format("{}: tile 0 needs {} bytes, and {} to {}", what, program::total(need),
                         whose, budget);
    return program::overflow_message(what, {&need, 1}, cost_.machine());
  }

  const sparse::BlockMatrix& w_;
  std::uint32_t n_;
  Cost& cost_;
  const Pinned& pinned_;
  const Reservation& around_;
  sparse::published::Policy policy_;
  RoundChoices rounds_;
  const Problem& problem_ = rounds_.problem();
  Planner planner_;
  const Cuts* asked_ = nullptr;       ///< cuts whose work planner_ prices
  std::uint64_t limit_ = UINT64_MAX;  ///< most cycles of cuts that are considered
  std::vector<Cuts> options_;
  std::map<Cuts, std::size_t> numbers_;
  std::vector<std::uint64_t> bounds_;  ///< bounds of the first options
  bool allowed_ = true;                ///< cuts fit the published planner's budget
  std::unique_ptr<std::pair<std::size_t, std::vector<Partition>>> candidate_;
  std::optional<Cuts> unnamed_;  ///< would fit, but its work lists cannot name every place
};

}  // namespace

Plan searched(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n, Cost& cost,
              const Pinned& pinned, const Reservation& around) {
  Search search(w, shape, n, cost, pinned, around);
  return pinned.algorithm == Algorithm::published ? search.published() : search.best();
}

}  // namespace tessera::spmm_static
