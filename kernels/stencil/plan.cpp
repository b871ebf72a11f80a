
#include "kernels/pinned.h"
#include "kernels/stencil/stencil.h"
#include "sim/base/counted.h"

namespace tessera::stencil {

using kernels::require_pinned;

namespace {

constexpr config::Names<Slices, 2> kSlices{{{"tile", Slices::tile}, {"worker", Slices::worker}}};
constexpr config::Names<Code, 3> kCodes{
    {{"scheduled", Code::scheduled}, {"compiled", Code::compiled}, {"elements", Code::elements}}};
constexpr std::uint32_t kCompiledChannels = 4;

/// Throws KeyError for a plan that the machine or the problem has no parts for.
void check_plan(const Plan& plan, const Options& options, const MachineConfig& machine) {
  const std::uint32_t contexts = machine.tile.contexts;
  kernels::require_rounds(options.external, plan.rounds.has_value());
  const auto [round_rows, round_columns, loads] = plan.rounds.value_or(Rounds{});
  require_pinned(round_rows <= options.rows, "rounds.rows", round_rows,
                 "at most {} (workload.rows)", options.rows);
  require_pinned(round_columns <= options.columns, "rounds.columns", round_columns,
                 "at most {} (workload.columns)", options.columns);
  const std::uint32_t rows = options.rows / round_rows;
  const std::uint32_t columns = options.columns / round_columns;
  require_pinned(plan.tile_rows <= rows, "tile_rows", plan.tile_rows,
                 "at most {} (workload.rows{})", rows, plan.rounds ? ", in rounds" : "");
  require_pinned(plan.tile_columns <= columns, "tile_columns", plan.tile_columns,
                 "at most {} (workload.columns{})", columns, plan.rounds ? ", in rounds" : "");
  require_pinned(std::uint64_t{plan.tile_rows} * plan.tile_columns <= machine.tiles, "tile_columns",
                 plan.tile_columns, "at most {} (tile_rows x tile_columns: {})",
                 machine.tiles / plan.tile_rows, counted(machine.tiles, "tile"));
  require_pinned(contexts % plan.worker_columns == 0, "worker_columns", plan.worker_columns,
                 "a divisor of {} (machine.tile.contexts)", contexts);
  require_pinned(plan.code == Code::scheduled || options.channels == kCompiledChannels, "code",
                 config::name_of(kCodes, plan.code), "scheduled, or 4 channels");
  require_pinned(plan.code != Code::elements || options.dtype == program::Type::f32, "code",
                 config::name_of(kCodes, plan.code), "scheduled, compiled with dtype f16");
}

/// Of both grids in their rings.
std::uint64_t outer_bytes(const Problem& problem) {
  const Options& o = problem.options;
  return 2 * (o.rows + std::uint64_t{2}) * (o.columns + std::uint64_t{2}) * problem.cell_bytes();
}

/// The fullest tile, and those that have most neighbours.
std::vector<plan::Tile> corner(const Plan& p) {
  const std::uint32_t right = p.tile_columns > 1 ? 1 : 0;
  const std::uint32_t below = p.tile_rows > 1 ? p.tile_columns : 0;
  return {0, right, below, below + right};
}

/// Powers of two and what is half between.
std::vector<std::uint32_t> numbers_of_rounds(std::uint32_t most) {
  std::vector<std::uint32_t> numbers;
  for (std::uint64_t power = 1; power <= most; power *= 2) {
    numbers.push_back(static_cast<std::uint32_t>(power));
    if (power > 1 && power + power / 2 <= most)
      numbers.push_back(static_cast<std::uint32_t>(power + power / 2));
  }
  return numbers;
}

/// Adds all plans of a problem.
class Candidates {
 public:
  Candidates(const std::shared_ptr<const Problem>& problem, plan::Pricing& pricing,
             kernels::Plans<Plan>& plans)
      : problem_(problem), pricing_(pricing), shell_(1), plans_(plans) {}

  void add_all() {
    if (!problem_->options.external) return add_grids({});
    for (const std::uint32_t columns : numbers_of_rounds(problem_->options.columns))
      for (const std::uint32_t rows : numbers_of_rounds(problem_->options.rows))
        if (worth(rows, columns)) add_grids(Rounds{rows, columns});
  }

 private:
  /// Rounds of which a ring and what is made of it may fit all tiles together; more of them move
  /// more, so few beyond the first that do are tried. Columns are divided where rows alone are few.
  [[nodiscard]] bool worth(std::uint32_t rows, std::uint32_t columns) const {
    constexpr std::uint64_t kBeyond = 16;
    const MachineConfig& machine = pricing_.machine();
    const std::uint64_t cells = std::uint64_t{problem_->options.rows} * problem_->options.columns;
    const std::uint64_t room = std::uint64_t{machine.tiles} * machine.tile.sram_kib * 1024;
    const std::uint64_t least = ceil_div(2 * cells * problem_->cell_bytes(), room);
    const std::uint64_t passes = std::uint64_t{rows} * columns;
    if (passes == 1 && least == 1) return true;
    return passes >= least && passes <= kBeyond * std::max<std::uint64_t>(least, 2) &&
           (columns == 1 || rows >= problem_->options.rows / kBeyond);
  }

  void add_grids(const std::optional<Rounds>& rounds) {
    const Options& options = problem_->options;
    const MachineConfig& machine = pricing_.machine();
    const Rounds parts = rounds.value_or(Rounds{});
    const std::uint32_t most_columns = options.columns / parts.columns;
    const std::uint32_t most_rows = options.rows / parts.rows;
    for (std::uint32_t columns = 1; columns <= std::min(machine.tiles, most_columns); ++columns) {
      for (std::uint32_t across = 1; across <= machine.tile.contexts; ++across) {
        if (machine.tile.contexts % across != 0) continue;
        Plan plan{std::min(machine.tiles / columns, most_rows), columns, across};
        plan.rounds = rounds;
        add(plan);
      }
    }
  }

  void add(Plan plan) {
    const std::uint64_t working = least_steps(problem_, plan, shell_, pricing_);
    if (!plan.rounds) return plans_.add(plan, working);
    const std::uint64_t passes = std::uint64_t{plan.rounds->rows} * plan.rounds->columns;
    // That all blocks come and go.
    const std::uint64_t times = passes > 1 ? problem_->options.steps : 1;
    const std::uint64_t moved = moved_bytes(*problem_, plan) / times;
    for (const kernels::Loads loads : kernels::loads_for(passes, pricing_.machine().tile)) {
      plan.rounds->loads = loads;
      plans_.add(plan, times * kernels::least_cycles(pricing_.machine(), loads, passes,
                                                     working / times, moved));
    }
  }

  const std::shared_ptr<const Problem>& problem_;
  plan::Pricing& pricing_;
  plan::Description shell_;
  kernels::Plans<Plan>& plans_;
};

}  // namespace

void describe(config::Fields& fields, Rounds& rounds) {
  constexpr config::Range<std::uint32_t> kParts{1, 1U << 24};
  fields.field({"rows",
                "blocks of rows in which the grid is brought: one of rows and one of columns: once "
                "for all steps; more: all of them in every step"},
               rounds.rows, kParts);
  fields.field({"columns", "blocks of columns"}, rounds.columns, kParts);
  describe(fields, rounds.loads);
}

void describe(config::Fields& fields, Plan& plan) {
  fields.field({"tile_rows", "tiles from north to south"}, plan.tile_rows, {1, 1U << 24});
  fields.field({"tile_columns", "tiles from west to east"}, plan.tile_columns, {1, 1U << 24});
  fields.field({"worker_columns", "workers of a tile from west to east; a divisor of its contexts"},
               plan.worker_columns, {1, 1U << 16});
  fields.field(
      {"slices",
       "worker: each worker copies its cells and their neighbours behind each other before "
       "every step; tile: they read their tile's"},
      plan.slices, kSlices);
  fields.field({"code",
                "scheduled: by hand; compiled: by a compiler, of 4 channels in 64-bit words; "
                "elements: the same of one f32 after the other"},
               plan.code, kCodes);
  fields.optional_group({"rounds", "rounds in which a grid that lies outside is brought"},
                        plan.rounds);
}

kernels::Planned<Plan> planned(const std::shared_ptr<const Problem>& problem, MachineCosts& costs) {
  const Options& options = problem->options;
  const MachineConfig& machine = costs.machine();
  if (options.external)
    kernels::require_external(machine, "the grids of two steps", outer_bytes(*problem));
  plan::Pricing pricing(costs);
  kernels::Plans<Plan> plans(
      "stencil for " + problem->text(), pricing,
      [&](const Plan& plan) {
        return plan::Described(describe_program(problem, plan), corner(plan));
      },
      [&](const Plan& plan) { return least_bytes(problem, plan); });
  if (auto pinned = options.plan) {
    check_plan(*pinned, options, machine);
    if (pinned->rounds)
      pinned->rounds->loads = kernels::loads_of(pinned->rounds->loads, machine.tile);
    return plans.pinned(*pinned);
  }
  Candidates(problem, pricing, plans).add_all();
  return plans.best();
}

}  // namespace tessera::stencil
