#include "kernels/gemm/outside.h"

namespace tessera::gemm {

using kernels::PanelFile;
using plan::Loads;
using plan::Tile;

namespace {

/// Adds a whole product in rounds to a description.
class RoundStatement {
 public:
  RoundStatement(const Problem& problem, const Plan& plan, const MachineConfig& machine,
                 const elf::KernelCode& code, plan::Description& description)
      : grid_(problem, plan),
        round_(grid_.problem(), plan),
        machine_(machine),
        y_{0, grid_.passes()},
        description_(description),
        product_(round_steps(round_, machine, code, description)) {
    for (Tile tile = 0; tile < round_.tiles(); ++tile) {
      results_.push_back(y_.held);
      y_.held += round_up(round_.result_bytes(round_.cell(tile)), PanelFile::kGrain);
    }
  }

  void state(const Operand* a, const Operand* b) {
    const From x = operand(Side::x, product_.x, a, b);
    const From w = operand(Side::w, product_.w, a, b);
    const plan::OuterId y = description_.outside({"c", y_.bytes(), true, {}});
    plan::Rounds rounds;
    rounds.name = "round";
    rounds.passes = grid_.passes();
    rounds.rounds = grid_.rounds().k;
    rounds.tiles = machine_.tiles;
    rounds.overlap = grid_.rounds().loads == kernels::Loads::beside;
    rounds.loaded = {product_.x, product_.w};
    rounds.radices[0] = grid_.rounds().k;
    rounds.radices[1] = grid_.rounds().n;
    rounds.pass_radices[0] = grid_.rounds().n;
    rounds.pass_radices[1] = grid_.rounds().m;
    rounds.in_place = product_.in_place;
    rounds.loads = [x, w](Tile tile, Loads& all) {
      for (const From* from : {&x, &w}) {
        plan::Load& one = all.emplace_back(from->load);
        one.offset = from->storage.begin(tile);
        one.row_bytes = from->storage.bytes_on(tile);
      }
    };
    rounds.stores = stores(y);
    description_.rounds(
        std::move(rounds), [&](bool first) { product_.round(first); }, [&] { product_.finish(); });
    if (a != nullptr) description_.tensor(result(y));
  }

 private:
  /// The load of a whole panel, and its storage on the tiles.
  struct From {
    Storage storage;
    plan::Load load;
  };
  /// Panels of A are ordered by m, then k (k fastest); those of B by n, then k.
  From operand(Side side, BufferId into, const Operand* a, const Operand* b) {
    const Rounds& rounds = grid_.rounds();
    const bool of_a = round_.is_a(side);
    const PanelFile panels{round_.bytes(side),
                           std::uint64_t{of_a ? rounds.m : rounds.n} * rounds.k};
    const Storage storage(round_, side, machine_.tiles);
    plan::OuterArray array{of_a ? "a" : "b", panels.bytes()};
    if (a != nullptr)
      array.contents = panels.contents(
          [=, grid = grid_](std::uint64_t panel, std::uint64_t at, std::span<std::byte> bytes) {
            const std::uint64_t pass = panel / grid.rounds().k * (of_a ? grid.rounds().n : 1);
            const RoundGrid::Origin origin = grid.origin(pass, panel % grid.rounds().k);
            storage.fill(at, *a, *b, {of_a ? origin.m : origin.n, origin.k}, bytes);
          });
    plan::Load load{{into}, description_.outside(std::move(array))};
    load.steps[0] = panels.stride();
    load.steps[of_a ? 2 : 1] = panels.stride() * rounds.k;
    return {storage, load};
  }

  [[nodiscard]] std::function<void(Tile, Loads&)> stores(plan::OuterId y) const {
    return [y, round = round_, results = results_, result = product_.result, stride = y_.stride(),
            n = grid_.rounds().n](Tile tile, Loads& all) {
      if (tile >= round.tiles()) return;
      plan::Load one{{result}, y, results[tile], word(round.result_bytes(round.cell(tile)))};
      one.steps[0] = stride;
      one.steps[1] = stride * n;
      all.push_back(one);
    };
  }

  /// The tensor of the result: a part per pass and tile.
  [[nodiscard]] program::Tensor result(plan::OuterId y) const {
    program::Tensor tensor = tensor_of_blocks(round_);
    const Product& all = grid_.whole();
    tensor.shape = {all.m, all.n};
    for (std::uint64_t pass = 0; pass < y_.count; ++pass)
      for (Tile tile = 0; tile < round_.tiles(); ++tile)
        tensor.parts.push_back({program::OuterPlace{y, pass * y_.stride() + results_[tile]},
                                word(round_.result_bytes(round_.cell(tile)))});
    tensor.runs = [grid = grid_, round = round_](std::size_t part, program::Runs& runs) {
      Geometry::YPlace first{grid.origin(part / round.tiles()).m,
                             grid.origin(part / round.tiles()).n};
      if (round.turned()) std::swap(first.row, first.column);
      add_blocks(round, static_cast<std::uint32_t>(part % round.tiles()),
                 {roles(grid.whole(), round.plan().stationary), first}, runs);
    };
    return tensor;
  }

  RoundGrid grid_;
  Geometry round_;
  const MachineConfig& machine_;
  PanelFile y_;
  std::vector<std::uint64_t> results_;  ///< by tile: offset of its part in a panel of Y
  plan::Description& description_;
  RoundSteps product_;
};

}  // namespace

RoundGrid::RoundGrid(const Problem& problem, const Plan& plan)
    : whole_(problem.product), round_(problem), rounds_(plan.rounds.value_or(Rounds{})) {
  const BlockShape block =
      block_shape(problem.unit, problem.dtype, plan.partials, plan.unit, "workload.plan.unit");
  const auto part = [this](std::uint32_t whole, std::uint32_t rounds, std::uint32_t grain,
                           std::uint32_t spare) {
    if (rounds == 1) return whole;
    const std::uint32_t size = round_up(ceil_div(whole, rounds), grain);
    needs_all_ = needs_all_ && rounds <= ceil_div(whole, size) + spare;
    return size;
  };
  const bool b_stays = plan.stationary == Stationary::b;
  round_.product.m = part(whole_.m, rounds_.m, b_stays ? 1 : block.columns, 0);
  round_.product.n = part(whole_.n, rounds_.n, b_stays ? block.columns : 1, 0);
  round_.product.k = part(whole_.k, rounds_.k, block.depth, rounds_.k % 2 == 0 ? 1 : 0);
}

RoundGrid::Origin RoundGrid::origin(std::uint64_t pass, std::uint64_t round) const {
  const Product& each = round_.product;
  return {pass / rounds_.n * each.m, pass % rounds_.n * each.n, round * each.k};
}

plan::Described described(const Problem& problem, const Plan& plan, const MachineConfig& machine,
                          const elf::KernelCode& code, const Operand* a, const Operand* b) {
  const Geometry geometry = geometry_of(problem, plan);
  plan::Description description(machine.tiles);
  if (plan.rounds)
    RoundStatement(problem, plan, machine, code, description).state(a, b);
  else
    describe_program(description, geometry, machine, code, a, b);
  if (a != nullptr) {
    description.tensor(data::tensor_of("A", *a, problem.dtype));
    description.tensor(data::tensor_of("B", *b, problem.dtype));
  }
  return {std::move(description), representatives(geometry)};
}

OutsideTraffic outside_traffic(const Problem& problem, const Plan& plan) {
  const RoundGrid grid(problem, plan);
  const Geometry round(grid.problem(), plan);
  const std::uint64_t passes = grid.passes();
  return {passes * grid.rounds().k * (round.bytes(Side::x) + round.bytes(Side::w)),
          passes * round.result_bytes()};
}

}  // namespace tessera::gemm
