#include "kernels/spmm_static/plan.h"

#include <algorithm>

#include "kernels/pinned.h"
#include "kernels/spmm_static/search.h"
#include "sim/base/errors.h"

namespace tessera::spmm_static {

namespace {

constexpr config::Names<Algorithm, 2> kAlgorithms{
    {{"best", Algorithm::best}, {"published", Algorithm::published}}};

constexpr config::Names<std::optional<Dealing>, 4> kDealings{{{"chosen", std::nullopt},
                                                              {"blocks", Dealing::blocks},
                                                              {"work", Dealing::work},
                                                              {"rows", Dealing::rows}}};

constexpr config::Names<std::optional<Sums>, 3> kSums{
    {{"chosen", std::nullopt}, {"home", Sums::home}, {"placed", Sums::placed}}};

void require_rounds(const Pinned& pinned, std::uint32_t block_rows, std::uint32_t n,
                    const Shape& shape, const TileConfig& tile) {
  if (pinned.algorithm == Algorithm::published)
    throw KeyError("workload.plan.algorithm",
                   "found published, allowed best where the operands are external");
  if (!pinned.rounds) return;
  kernels::require_pinned(pinned.rounds->m <= block_rows, "rounds.m", pinned.rounds->m,
                          "1 to {} (block rows of W)", block_rows);
  const std::uint32_t rounds = pinned.rounds->n;
  const std::uint32_t columns = round_up(ceil_div(n, rounds), shape.lanes());
  kernels::require_pinned(ceil_div(n, columns) == rounds, "rounds.n", rounds,
                          "as many as parts of whole 64-bit words need: {}", ceil_div(n, columns));
  kernels::loads_of(pinned.rounds->loads, tile);
}

}  // namespace

void describe(config::Fields& fields, Rounds& rounds) {
  fields.field({"m", "parts of the block rows of W, computed one after the other"}, rounds.m,
               {1, 1U << 20});
  fields.field({"n", "parts of n, computed one after the other for each part of m"}, rounds.n,
               {1, 1U << 20});
  describe(fields, rounds.loads);
}

void describe_dealing(config::Fields& fields, std::optional<Dealing>& dealing) {
  fields.field({"dealing",
                "balance within a band: each tile gets about equally many blocks (as published), "
                "equal work, or equal work in whole rows"},
               dealing, kDealings);
}

void describe(config::Fields& fields, Pinned& plan) {
  fields.field({"algorithm",
                "source of the plan: best: our cost model for this very pattern; published: the "
                "published planner, for any pattern"},
               plan.algorithm, kAlgorithms);
  fields.field({"parts", "number of parts of the columns of X and Y; 0: chosen"}, plan.parts);
  fields.field({"bands",
                "bands of columns of W with equally many blocks, whose partial sums are added at "
                "the end; fewer if empty columns leave fewer; 0: chosen"},
               plan.bands);
  describe_dealing(fields, plan.dealing);
  fields.field({"sums",
                "where partial rows are summed: home: on the tile that keeps the result; placed: "
                "where the published library places each sum"},
               plan.sums, kSums);
  kernels::describe_unit(fields, plan.unit);
  fields.optional_group(
      {"rounds", "rounds in which operands are loaded from external memory; chosen if not given"},
      plan.rounds);
}

Pinned pinned(const Plan& plan) {
  const Cuts& cuts = plan.partition.cuts;
  const Shape& shape = plan.partition.shape;
  return {
      plan.algorithm,
      word(plan.partition.parts.size()),
      cuts.bands,
      cuts.dealing,
      cuts.sums,
      shape.in_blocks() ? shape.unit.form() : kernels::Form(),
      plan.outside ? std::optional(Rounds{cuts.row_parts, cuts.rounds, cuts.loads}) : std::nullopt};
}

Plan choose_plan(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
                 MachineCosts& costs, const Pinned& pinned, const Reservation& around) {
  const MachineConfig& machine = costs.machine();
  kernels::require_at_most(around.keys + ".parts", pinned.parts,
                           std::min(ceil_div(n, shape.lanes()), machine.tiles),
                           "words of a row of X, tiles");
  kernels::require_at_most(around.keys + ".bands", pinned.bands,
                           std::min(w.block_columns(), machine.tiles), "block columns, tiles");
  if (around.outside) require_rounds(pinned, w.block_rows(), n, shape, machine.tile);
  Cost cost(shape, w, costs);
  return searched(w, shape, n, cost, pinned, around);
}

bool may_be_faster(const Shape& shape, const Partition& than, const sparse::BlockMatrix& w,
                   MachineCosts& costs) {
  const Part* part = nullptr;
  const Share* share = nullptr;
  for (const Part& each : than.parts)
    for (const Share& its : than.layer(each).shares)
      if (share == nullptr || its.blocks() * each.width() > share->blocks() * part->width()) {
        part = &each;
        share = &its;
      }
  if (share == nullptr || share->blocks() == 0) return false;
  const auto cycles = [&](const Shape& of) {
    return Cost(of, w, costs).product(share->rows.size(), share->blocks(), part->width());
  };
  const std::uint64_t known = cycles(than.shape);
  return cycles(shape) <= known + known / 4;
}

Plan choose_plan(const sparse::BlockMatrix& w, std::span<const Shape> shapes, std::uint32_t n,
                 MachineCosts& costs, const Pinned& pinned, const Reservation& around) {
  std::optional<Plan> best;
  for (const Shape& shape : shapes) {
    if (best && best->misfit.empty() && !may_be_faster(shape, best->partition, w, costs)) continue;
    Plan plan = choose_plan(w, shape, n, costs, pinned, around);
    const bool faster = best && plan.misfit.empty() &&
                        (!best->misfit.empty() || plan.prediction.cycles < best->prediction.cycles);
    if (!best || faster) best = std::move(plan);
  }
  return *std::move(best);
}

}  // namespace tessera::spmm_static
