#include "kernels/spmm_tilewise/plan.h"

#include <functional>
#include <numeric>
#include <utility>

#include "kernels/gemm/vertices.h"
#include "kernels/pinned.h"
#include "kernels/planned.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/machine/nodes.h"

namespace tessera::spmm_tilewise {

namespace {

constexpr std::uint32_t kMostParts = 16;

/// The rows to multiply whole: those of a column tile, those with at least `row_singles` single
/// elements and, to fill the last block of depth, those with the most single elements among the
/// others.
std::vector<std::uint32_t> whole_blocks(const ColumnTile& tile, std::uint32_t row_singles,
                                        const Problem& problem) {
  std::vector<std::uint32_t> rank = singles_by_row(problem.pattern, tile, problem.padded_k());
  for (const std::uint32_t row : tile.rows) rank[row] = UINT32_MAX;
  std::vector<std::uint32_t> rows(rank.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::ranges::stable_sort(rows, std::greater(), [&](std::uint32_t row) { return rank[row]; });
  const std::uint32_t least = row_singles == 0 ? UINT32_MAX : row_singles;
  const auto whole =
      std::count_if(rank.begin(), rank.end(), [=](auto its) { return its >= least; });
  rows.resize(round_up<std::size_t>(static_cast<std::size_t>(whole), problem.block.depth));
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// A machine tile's work and traffic in a single superstep.
struct Load {
  std::uint64_t cycles = 0;
  std::uint64_t alone = 0, shared = 0;  ///< received bytes
  std::uint64_t results = 0;            ///< bytes
  std::uint64_t least_held = 0;         ///< bytes of stored data and results, for any K-steps
};

/// A candidate form of the product.
struct Form {
  const Problem& problem;
  OverlayCode overlay;
  OverlayWork work;
};

/// The parameters of a plan.
struct Cuts {
  const Form* form;
  std::uint32_t row_singles, parts, cuts;
  std::uint64_t least_bytes = 0;  ///< lower bound of the fullest tile
};
using Choice = kernels::Choice<Cuts>;

/// The search over all plans of a product: options are forms, thresholds of rows multiplied whole
/// and parts of column tiles; variants are K-steps.
class PlanSearch {
 public:
  PlanSearch(const std::vector<Problem>& problems, MachineCosts& costs, const Pinned& pinned)
      : pricing_(costs),
        plans_(pricing_),
        pinned_(pinned),
        dense_(code_.gemm, plans_.shell(), machine().tile.contexts),
        pattern_(problems.front().pattern) {
    for (const ColumnTile& tile : pattern_.tiles)
      widest_ = std::max(widest_, word(tile.columns.size()));
    kernels::require_at_most("workload.plan.parts", pinned_.parts, widest_);
    for (const Problem& problem : problems) {
      const auto best = std::ranges::min_element(plans_.bounds());
      if (best == plans_.bounds().end() || least_cycles(problem) <= *best + *best / 4)
        add_form(problem);
      else
        slower_.push_back(&problem);
    }
    require_any();
  }

  /// The best plan among forms that are not much slower than others, or among all if none of those
  /// fits.
  [[nodiscard]] Choice search() {
    const auto described = [this](const Cuts& cuts) {
      const std::shared_ptr<const Plan> its = plan(cuts);
      return plan::Described(describe(its), representatives(loads(*its)));
    };
    Choice found = kernels::best_of(
        plans_, [](const Cuts& cuts) { return cuts.least_bytes; }, described);
    if (found.found.fits || slower_.empty()) return found;
    for (const Problem* problem : std::exchange(slower_, {})) add_form(*problem);
    return search();
  }
  [[nodiscard]] std::shared_ptr<const Plan> found(const Choice& found) {
    Plan chosen = *plan(found.plan);
    chosen.prediction = found.found.prediction;
    const plan::Description description = describe(last_);
    std::vector<std::uint64_t> cycles;
    for (plan::Tile tile = 0; tile < machine().tiles; ++tile)
      cycles.push_back(pricing_.calls(description, tile));
    chosen.cycles = Imbalance::of(cycles);
    return std::make_shared<const Plan>(std::move(chosen));
  }

 private:
  [[nodiscard]] const MachineConfig& machine() const { return plans_.machine(); }
  [[nodiscard]] bool has_singles() const { return !pattern_.overlay.empty(); }
  [[nodiscard]] plan::Description describe(std::shared_ptr<const Plan> its) const {
    return describe_program(form_->problem, std::move(its), machine(), code_, nullptr);
  }

  /// Lower bound on cycles of products with kept rows, spread evenly over all tiles.
  std::uint64_t least_cycles(const Problem& problem) {
    const plan::Function& product = dense_.product(problem.block, false);
    std::uint64_t cycles = 0;
    for (const ColumnTile& tile : pattern_.tiles)
      cycles += ceil_div<std::uint64_t>(tile.rows.size(), problem.block.depth) *
                gemm::least_run(pricing_, plans_.shell(), product, tile.columns.size());
    return cycles * problem.panels() / machine().tiles;
  }

  /// Candidate numbers of single elements from which rows are multiplied whole.
  [[nodiscard]] std::vector<std::uint32_t> row_choices() const {
    if (pinned_.row_singles != 0) return {pinned_.row_singles};
    if (!has_singles()) return {0};
    return {widest_ + 1, 2, 3, 4, 6, 8, 12, 16};
  }

  void add_form(const Problem& problem) {
    const OverlayCode overlay(code_.sparse, plans_.shell(), problem.block, machine().tile.contexts);
    forms_.push_back(std::make_unique<Form>(
        Form{problem, overlay, has_singles() ? overlay.work(pricing_) : OverlayWork{}}));
    for (const std::uint32_t row_singles : row_choices()) {
      choose_rows(*forms_.back(), row_singles);
      std::uint32_t deepest = 1;
      for (const auto& rows : rows_)
        deepest = std::max(deepest, word(rows.size() / problem.block.depth));
      deepest_ = std::max(deepest_, deepest);
      if (pinned_.cuts > deepest) continue;
      const std::uint32_t first = std::max(pinned_.parts, 1U);
      const std::uint32_t last = pinned_.parts != 0 ? first : std::min(kMostParts, widest_);
      for (std::uint32_t parts = first; parts <= last; ++parts)
        add({forms_.back().get(), row_singles, parts, std::max(pinned_.cuts, 1U)}, deepest);
    }
  }

  /// Throws KeyError if no form has options: too many K-steps are pinned, or the overlay's 16-bit
  /// places (64-bit words within a panel) do not reach any plan's rows.
  void require_any() const {
    kernels::require_at_most("workload.plan.cuts", pinned_.cuts, deepest_);
    if (!plans_.bounds().empty()) return;
    throw KeyError("workload.overlay", "names {} rows of W in one tile, allowed up to {}",
                   out_of_reach_, most_rows(forms_.front()->problem));
  }
  static std::size_t most_rows(const Problem& problem) {
    return (std::size_t{1} << 16) / (problem.vector_bytes() / 8);
  }

  void choose_rows(const Form& form, std::uint32_t row_singles) {
    if (&form == form_ && row_singles == row_singles_) return;
    form_ = &form;
    product_ = &dense_.product(form.problem.block, false);
    row_singles_ = row_singles;
    rows_.clear();
    for (const ColumnTile& tile : pattern_.tiles)
      rows_.push_back(whole_blocks(tile, row_singles, form.problem));
  }

  /// Adds plans with up to `deepest` K-steps, or with the pinned number.
  void add(Cuts cuts, std::uint32_t deepest) {
    const std::shared_ptr<const Plan> its = plan(cuts);
    std::size_t named = 0;
    for (const Group& group : its->groups) named = std::max(named, group.overlay.rows.size());
    if (named > most_rows(form_->problem)) {
      out_of_reach_ = named;
      return;
    }
    std::uint64_t cycles = 0;
    std::uint64_t moving = 0;
    for (const Load& load : loads(*its)) {
      cuts.least_bytes = std::max(cuts.least_bytes, load.least_held);
      cycles = std::max(cycles, load.cycles);
      moving =
          std::max(moving, plans_.costs().exchange({0, load.alone, load.shared, machine().tiles}));
    }
    const auto variant = [cuts](std::uint32_t number) {
      Cuts more = cuts;
      more.cuts += number;
      return more;
    };
    plans_.add_variants(pinned_.cuts != 0 ? 1 : deepest, variant, cycles + moving);
  }

  [[nodiscard]] std::vector<Group> groups(std::uint32_t parts) const {
    std::vector<Group> all;
    for (std::uint32_t t = 0; t < rows_.size(); ++t) {
      const ColumnTile& tile = pattern_.tiles[t];
      const std::uint32_t width = word(tile.columns.size());
      // Narrower tiles are split into parts of about the same size.
      const EvenSplit split{width, ceil_div(width * parts, widest_)};
      for (std::uint32_t part = 0; part < split.parts; ++part) {
        const Interval columns = split.part(part);
        OverlayPart overlay = overlay_part(pattern_, tile, columns, rows_[t]);
        if (!rows_[t].empty() || !overlay.empty())
          all.push_back({t, columns, rows_[t], std::move(overlay)});
      }
    }
    return all;
  }

  /// The plan with these parameters; caches the last one.
  [[nodiscard]] std::shared_ptr<const Plan> plan(const Cuts& of) {
    choose_rows(*of.form, of.row_singles);
    const gemm::BlockShape& block = form_->problem.block;
    if (last_ && last_->block.form() == block.form() && last_->parts == of.parts &&
        last_->row_singles == of.row_singles && last_->cuts == of.cuts)
      return last_;
    Plan plan{block, of.parts, of.cuts, of.row_singles, groups(of.parts), {}, form_->work};
    std::vector<GroupCost> costs;
    for (const Group& group : plan.groups) costs.push_back(cost(group));
    plan.jobs = assign(costs, form_->problem.panels(), machine().tiles);
    for (std::uint32_t j = 0; j < plan.jobs.size(); ++j) {
      Group& group = plan.groups[plan.jobs[j].group];
      if (group.jobs++ == 0) group.first_job = j;
    }
    return last_ = std::make_shared<const Plan>(std::move(plan));
  }

  /// Cycles of a group's product with `panels` panels, in one superstep.
  std::uint64_t cycles(const Group& group, std::uint64_t panels) {
    std::uint64_t sum = 0;
    if (!group.rows.empty())
      sum += plans_.call(
          *product_, {group.positions(), panels, group.rows.size() / form_->problem.block.depth});
    if (!group.overlay.empty())
      sum += form_->overlay.cycles({group.overlay, form_->work, panels, !group.rows.empty()},
                                   pricing_);
    return sum;
  }

  /// Cost for assign(): multiplying and loading panels, independent of K-steps.
  [[nodiscard]] GroupCost cost(const Group& group) {
    const std::uint64_t one = cycles(group, 1);
    const std::uint64_t bytes =
        (group.rows.size() + group.overlay.rows.size()) * form_->problem.vector_bytes();
    // Assumes that each tile sends as much as it receives, so that the assignment does not depend
    // on the faster of the two rates.
    const std::uint64_t loaded = plans_.costs().exchange({bytes, bytes, 0, machine().tiles}) -
                                 plans_.costs().exchange({0, 0, 0, machine().tiles});
    const std::uint64_t panel = cycles(group, 2) - one + loaded;
    return {one > panel ? one - panel : 0, panel};
  }

  /// The load of each machine tile.
  [[nodiscard]] std::vector<Load> loads(const Plan& plan) {
    std::vector<Load> loads(machine().tiles);
    const auto stored = [&](std::uint32_t columns, plan::Tile tile) -> std::uint64_t {
      const EvenStorage all = panel_storage(form_->problem, columns, machine().tiles);
      return all.begin(tile + 1) - all.begin(tile);
    };
    for (const Job& job : plan.jobs) {
      const Group& group = plan.groups[job.group];
      const std::uint64_t panels = job.panels.size() * form_->problem.vector_bytes();
      const std::uint64_t weights =
          group.rows.size() * group.positions() * form_->problem.block.input_bytes;
      Load& load = loads[job.machine];
      load.cycles += cycles(group, job.panels.size());
      load.alone += weights + (group.rows.size() + group.overlay.rows.size()) * panels;
      load.results += group.positions() * panels;
      if (job.machine % 2 == 0 || job.panels.begin == 0) continue;
      // The pair's other tile has the previous panels and the same weights.
      for (Load* each : {&load, &loads[job.machine - 1]}) {
        each->alone -= weights;
        each->shared += weights;
      }
    }
    // C is always stored, A until results are computed.
    for (plan::Tile tile = 0; tile < loads.size(); ++tile)
      loads[tile].least_held =
          stored(form_->problem.w.columns, tile) +
          std::max(stored(form_->problem.padded_k(), tile), loads[tile].results);
    return loads;
  }

  /// Representative tiles: tile 0, which stores the most, and those that compute, receive and hold
  /// the most.
  static std::vector<plan::Tile> representatives(const std::vector<Load>& loads) {
    std::vector<plan::Tile> tiles{0};
    const auto add_largest = [&](const auto& size) {
      const auto largest = std::ranges::max_element(loads, {}, size);
      add_once(tiles, static_cast<plan::Tile>(largest - loads.begin()));
    };
    add_largest([](const Load& load) { return load.cycles; });
    add_largest([](const Load& load) { return load.alone; });
    add_largest([](const Load& load) { return load.alone + load.shared; });
    add_largest([](const Load& load) { return load.results; });
    add_largest([](const Load& load) { return load.alone + load.shared + load.results; });
    return tiles;
  }

  plan::Pricing pricing_;
  kernels::Plans<Cuts> plans_;
  Pinned pinned_;
  TileCode code_;
  gemm::Functions dense_;
  const TilePattern& pattern_;
  std::uint32_t widest_ = 1, deepest_ = 1;
  std::size_t out_of_reach_ = 0;  ///< rows of an overlay that places do not reach
  std::vector<std::unique_ptr<Form>> forms_;
  std::vector<const Problem*> slower_;            ///< problems of forms without options
  const plan::Function* product_ = nullptr;       ///< function of the product for `form_`
  const Form* form_ = nullptr;                    ///< form of `rows_`
  std::uint32_t row_singles_ = 0;                 ///< option of `rows_`
  std::vector<std::vector<std::uint32_t>> rows_;  ///< by column tile
  std::shared_ptr<const Plan> last_;
};

}  // namespace

std::span<const Job> Plan::jobs_on(std::uint32_t machine) const {
  return {std::ranges::lower_bound(jobs, machine, {}, &Job::machine),
          std::ranges::upper_bound(jobs, machine, {}, &Job::machine)};
}

std::shared_ptr<const Plan> make_plan(const std::vector<Problem>& problems, MachineCosts& costs,
                                      const Pinned& pinned) {
  const Problem& problem = problems.front();
  const MachineConfig& machine = costs.machine();
  const auto refuse = [&](const program::CategoryBytes& need) {
    const std::string what = fmt::format("spmm_tilewise for m={} n={} k={} with {} of {} weights",
                                         problem.m, problem.w.columns, problem.w.rows,
                                         problem.pattern.kept(), problem.w.value.size());
    throw UserError(kernels::no_plan_fits(what, nullptr, need, machine));
  };
  // A and C alone: measuring products that no tile can hold would take seconds.
  program::CategoryBytes least{};
  least[static_cast<std::size_t>(program::Category::tensors)] =
      std::uint64_t{problem.m} * (std::uint64_t{problem.w.rows} + problem.w.columns) *
      problem.block.input_bytes / machine.tiles;
  if (program::total(least) > sram_bytes(machine.tile)) refuse(least);
  PlanSearch plans(problems, costs, pinned);
  const Choice best = plans.search();
  if (!best.found.fits) refuse(best.found.memory);
  return plans.found(best);
}

Imbalance kept_rows(const TilePattern& pattern) {
  std::vector<std::uint64_t> rows;
  for (std::size_t t = 0; t < pattern.tiles.size() - pattern.overlay_tiles; ++t)
    rows.push_back(pattern.tiles[t].rows.size());
  return Imbalance::of(rows);
}

}  // namespace tessera::spmm_tilewise
