#include "kernels/pinned.h"
#include "kernels/planned.h"
#include "kernels/stencil/stencil.h"

namespace tessera::stencil {

using kernels::require_pinned;

namespace {

constexpr config::Names<Slices, 2> kSlices{{{"tile", Slices::tile}, {"worker", Slices::worker}}};
constexpr config::Names<Code, 3> kCodes{
    {{"scheduled", Code::scheduled}, {"compiled", Code::compiled}, {"elements", Code::elements}}};
constexpr std::uint32_t kCompiledChannels = 4;

/// Powers of two and 1.5 times these, up to `most`.
std::vector<std::uint32_t> numbers_of_rounds(std::uint32_t most) {
  std::vector<std::uint32_t> numbers;
  for (std::uint64_t power = 1; power <= most; power *= 2) {
    numbers.push_back(static_cast<std::uint32_t>(power));
    if (power > 1 && power + power / 2 <= most)
      numbers.push_back(static_cast<std::uint32_t>(power + power / 2));
  }
  return numbers;
}

/// True if these rounds are worth a try: a block and its results may fit the SRAM of all tiles, and
/// there are not many more rounds than needed, since more rounds move more bytes. Columns are
/// divided only if rows are already divided finely.
bool worth(const Problem& problem, std::uint32_t rows, std::uint32_t columns) {
  constexpr std::uint64_t kBeyond = 16;
  const std::uint64_t cells = std::uint64_t{problem.options.rows} * problem.options.columns;
  const std::uint64_t room =
      std::uint64_t{problem.machine.tiles} * problem.machine.tile.sram_kib * 1024;
  const std::uint64_t least = ceil_div(2 * cells * problem.cell_bytes, room);
  const std::uint64_t passes = std::uint64_t{rows} * columns;
  if (passes == 1 && least == 1) return true;
  return passes >= least && passes <= kBeyond * std::max<std::uint64_t>(least, 2) &&
         (columns == 1 || rows >= problem.options.rows / kBeyond);
}

/// Lower bound on the tiles' cycles in all steps, without the transfers of rounds.
std::uint64_t least_steps(const Geometry& g, kernels::Plans<Plan>& plans, std::uint64_t call) {
  const std::uint64_t steps = g.problem->options.steps;
  if (g.streams()) return steps * g.passes() * call;
  const auto sides = [&](std::uint64_t tiles) {
    return g.problem->options.boundary == Boundary::periodic
               ? 2
               : std::min<std::uint64_t>(tiles - 1, 2);
  };
  const Block block = g.block(0);
  const std::uint64_t bytes =
      (sides(g.rows.tiles) * block.columns + sides(g.columns.tiles) * block.rows) * g.cell;
  const std::uint64_t exchange =
      bytes == 0 ? 0 : plans.costs().exchange({bytes, bytes, 0, g.tiles()});
  const std::uint64_t exchanges = g.plan.rounds ? steps - 1 : steps;  // a loaded block has its ring
  return steps * (plans.costs().barrier() + call) + exchanges * exchange;
}

/// Bytes to load and store all blocks once.
std::uint64_t moved_bytes(const Geometry& g) {
  const std::uint64_t rows = g.rows.size(), columns = g.columns.size();
  const std::uint64_t rings =
      (rows + std::uint64_t{2} * g.rows.tiles) * (columns + std::uint64_t{2} * g.columns.tiles);
  return g.passes() * (rings + rows * columns) * g.cell;
}

void add(const std::shared_ptr<const Problem>& problem, Plan plan, kernels::Plans<Plan>& plans) {
  const auto g = std::make_shared<const Geometry>(Geometry{problem, plan});
  const std::uint64_t working = least_steps(*g, plans,
                                            plans.call(stencil_of(g, plans.shell(), g->streams()),
                                                       {g->block(0).rows, g->block(0).columns}));
  if (!plan.rounds) return plans.add(plan, working);
  // Times that all blocks are loaded and stored.
  const std::uint64_t times = g->streams() ? problem->options.steps : 1;
  for (const kernels::Loads loads : kernels::loads_for(g->passes(), problem->machine.tile)) {
    plan.rounds->loads = loads;
    plans.add(plan, times * kernels::least_cycles(problem->machine, loads, g->passes(),
                                                  working / times, moved_bytes(*g)));
  }
}

}  // namespace

void describe(config::Fields& fields, Rounds& rounds) {
  constexpr config::Range<std::uint32_t> kParts{1, 1U << 24};
  fields.field({"rows",
                "number of row blocks; with one row block and one column block the grid is loaded "
                "once for all steps, with more in every step"},
               rounds.rows, kParts);
  fields.field({"columns", "number of column blocks"}, rounds.columns, kParts);
  describe(fields, rounds.loads);
}

void describe(config::Fields& fields, Plan& plan) {
  fields.field({"tile_rows", "number of tile rows (north to south)"}, plan.tile_rows,
               {1, 1U << 24});
  fields.field({"tile_columns", "number of tile columns (west to east)"}, plan.tile_columns,
               {1, 1U << 24});
  fields.field(
      {"worker_columns", "worker columns within a tile (west to east); a divisor of its contexts"},
      plan.worker_columns, {1, 1U << 16});
  fields.field({"slices",
                "worker: each worker copies its cells and their neighbours to contiguous memory "
                "before every step; tile: workers read the tile's grid in place"},
               plan.slices, kSlices);
  fields.field({"code",
                "scheduled: hand-scheduled code; compiled: compiled code for 4 channels in 64-bit "
                "words; elements: compiled code for one f32 at a time"},
               plan.code, kCodes);
  fields.optional_group({"rounds", "rounds in which a grid in external memory is loaded"},
                        plan.rounds);
}

void complete(const Problem& problem, Plan& plan) {
  const Options& options = problem.options;
  const MachineConfig& machine = problem.machine;
  const std::uint32_t contexts = machine.tile.contexts;
  kernels::require_rounds(options.external, plan.rounds.has_value());
  const auto check = [&](std::string_view name, const Axis& axis) {
    require_pinned(axis.rounds <= axis.cells, fmt::format("rounds.{}", name), axis.rounds,
                   "at most {} (workload.{})", axis.cells, name);
    require_pinned(axis.tiles <= axis.step(), fmt::format("tile_{}", name), axis.tiles,
                   "at most {} (workload.{}{})", axis.step(), name,
                   plan.rounds ? ", in rounds" : "");
  };
  const Rounds rounds = plan.rounds.value_or(Rounds{});
  check("rows", {options.rows, rounds.rows, plan.tile_rows});
  check("columns", {options.columns, rounds.columns, plan.tile_columns});
  require_pinned(std::uint64_t{plan.tile_rows} * plan.tile_columns <= machine.tiles, "tile_columns",
                 plan.tile_columns, "at most {} (tile_rows x tile_columns: {})",
                 machine.tiles / plan.tile_rows, counted(machine.tiles, "tile"));
  require_pinned(contexts % plan.worker_columns == 0, "worker_columns", plan.worker_columns,
                 "a divisor of {} (machine.tile.contexts)", contexts);
  require_pinned(plan.code == Code::scheduled || options.channels == kCompiledChannels, "code",
                 config::name_of(kCodes, plan.code), "scheduled, or 4 channels");
  require_pinned(plan.code != Code::elements || options.dtype == program::Type::f32, "code",
                 config::name_of(kCodes, plan.code), "scheduled, compiled with dtype f16");
  if (plan.rounds) plan.rounds->loads = kernels::loads_of(plan.rounds->loads, machine.tile);
}

/// Adds all grids of tiles and all divisions of a block among workers.
void add_plans(const std::shared_ptr<const Problem>& problem, kernels::Plans<Plan>& plans) {
  const Options& options = problem->options;
  const MachineConfig& machine = problem->machine;
  const auto add_grids = [&](std::uint32_t rows, std::uint32_t columns) {
    for (std::uint32_t across = 1; across <= std::min(machine.tiles, options.columns / columns);
         ++across)
      for (std::uint32_t workers = 1; workers <= machine.tile.contexts; ++workers) {
        if (machine.tile.contexts % workers != 0) continue;
        Plan plan{std::min(machine.tiles / across, options.rows / rows), across, workers};
        if (options.external) plan.rounds = {rows, columns};
        add(problem, plan, plans);
      }
  };
  if (!options.external) return add_grids(1, 1);
  for (const std::uint32_t columns : numbers_of_rounds(options.columns))
    for (const std::uint32_t rows : numbers_of_rounds(options.rows))
      if (worth(*problem, rows, columns)) add_grids(rows, columns);
  // If nothing can fit, rounds of one cell each come closest.
  if (plans.bounds().empty()) add_grids(options.rows, options.columns);
}

std::uint64_t least_bytes(const Problem& problem, const Plan& plan) {
  // A shared_ptr that owns nothing.
  const Geometry g{{std::shared_ptr<const Problem>(), &problem}, plan};
  const Block block = g.block(0);
  const bool beside = g.rounds.loads == kernels::Loads::beside;
  const std::uint64_t made = g.streams() ? block.rows * block.columns : block.size();
  return ((beside ? 2 : 1) * block.size() + made) * g.cell;
}

std::string text(const Problem& problem) {
  const Options& o = problem.options;
  return fmt::format("{}x{}x{} {}, {}", o.rows, o.columns, o.channels,
                     config::name_of(data::kFloatTypes, o.dtype), counted(o.steps, "step"));
}

Kernel kernel() {
  return kernels::planned_kernel<Problem>("stencil", "steps of a 3x3 stencil on a grid of cells");
}

}  // namespace tessera::stencil
