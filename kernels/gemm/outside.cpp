#include "kernels/gemm/outside.h"

namespace tessera::gemm {

using kernels::PanelFile;
using plan::Loads;
using plan::Tile;

namespace {

struct OutsideLayout {
  PanelFile x, w, y;
  std::vector<std::uint64_t> results;  ///< by tile: where its part of a panel of Y begins
};

OutsideLayout layout_of(const RoundGrid& grid, const Geometry& round) {
  const Rounds& rounds = grid.rounds();
  const bool b_stays = round.plan().stationary == Stationary::b;
  const std::uint64_t a_panels = std::uint64_t{rounds.m} * rounds.k;
  const std::uint64_t b_panels = std::uint64_t{rounds.n} * rounds.k;
  OutsideLayout layout{{round.x_bytes(), b_stays ? a_panels : b_panels},
                       {round.w_bytes(), b_stays ? b_panels : a_panels},
                       {0, grid.passes()},
                       {}};
  for (Tile tile = 0; tile < round.tiles(); ++tile) {
    layout.results.push_back(layout.y.held);
    layout.y.held += round_up(round.result_bytes(round.cell(tile)), PanelFile::kGrain);
  }
  return layout;
}

/// Writes what the panels of an operand hold.
struct PanelContents {
  RoundGrid grid;
  Storage storage;
  Storage::Role role;
  Stationary stationary;
  const Operand* a;
  const Operand* b;

  void operator()(std::uint64_t panel, std::uint64_t at, std::span<std::byte> into) const {
    storage.fill(at, *a, *b, origin(panel), into);
  }

  [[nodiscard]] Storage::Origin origin(std::uint64_t panel) const {
    const Rounds& rounds = grid.rounds();
    const std::uint64_t pass = panel / rounds.k;
    const bool of_a = (role == Storage::Role::x) == (stationary == Stationary::b);
    const RoundGrid::Origin at = grid.origin(of_a ? pass * rounds.n : pass, panel % rounds.k);
    return {of_a ? at.m : at.n, at.k};
  }
};

/// States a whole product in rounds.
class RoundStatement {
 public:
  RoundStatement(const Problem& problem, const Plan& plan, const MachineConfig& machine,
                 const elf::KernelCode& code, plan::Description& description)
      : grid_(problem, plan),
        round_(grid_.problem(), plan),
        machine_(machine),
        layout_(layout_of(grid_, round_)),
        description_(description),
        product_(round_steps(round_, machine, code, description)) {}

  void state(const Operand* a, const Operand* b) {
    const bool b_stays = round_.plan().stationary == Stationary::b;
    const plan::OuterId x = operand(Storage::Role::x, b_stays ? "a" : "b", layout_.x, a, b);
    const plan::OuterId w = operand(Storage::Role::w, b_stays ? "b" : "a", layout_.w, a, b);
    const plan::OuterId y = description_.outside({"c", layout_.y.bytes(), true, {}});
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
    rounds.loads = loads(x, w);
    rounds.stores = stores(y);
    description_.rounds(
        std::move(rounds), [&](bool first) { product_.round(first); }, [&] { product_.finish(); });
    if (a != nullptr) description_.tensor(result(y));
  }

 private:
  plan::OuterId operand(Storage::Role role, std::string_view name, const PanelFile& panels,
                        const Operand* a, const Operand* b) {
    plan::OuterArray array{name, panels.bytes()};
    if (a != nullptr)
      array.contents = panels.contents(PanelContents{grid_, Storage(round_, role, machine_.tiles),
                                                     role, round_.plan().stationary, a, b});
    return description_.outside(std::move(array));
  }

  /// Panels of A follow each other by k, then m; those of B by k, then n.
  [[nodiscard]] std::function<void(Tile, Loads&)> loads(plan::OuterId x, plan::OuterId w) const {
    const Storage x_storage(round_, Storage::Role::x, machine_.tiles);
    const Storage w_storage(round_, Storage::Role::w, machine_.tiles);
    const bool b_stays = round_.plan().stationary == Stationary::b;
    const Rounds rounds = grid_.rounds();
    return [=, xs = layout_.x.stride(), ws = layout_.w.stride(), into_x = product_.x,
            into_w = product_.w](Tile tile, Loads& all) {
      const auto load = [&](BufferId into, plan::OuterId from, const Storage& storage,
                            std::uint64_t stride, bool of_a) {
        plan::Load one{{into}, from, storage.begin(tile), storage.bytes_on(tile)};
        one.steps[0] = stride;
        one.steps[of_a ? 2 : 1] = stride * rounds.k;
        all.push_back(one);
      };
      load(into_x, x, x_storage, xs, b_stays);
      load(into_w, w, w_storage, ws, !b_stays);
    };
  }

  [[nodiscard]] std::function<void(Tile, Loads&)> stores(plan::OuterId y) const {
    return [y, round = round_, layout = layout_, result = product_.result, n = grid_.rounds().n](
               Tile tile, Loads& all) {
      if (tile >= round.tiles()) return;
      plan::Load one{{result}, y, layout.results[tile], word(round.result_bytes(round.cell(tile)))};
      one.steps[0] = layout.y.stride();
      one.steps[1] = layout.y.stride() * n;
      all.push_back(one);
    };
  }

  /// A part a pass and tile.
  [[nodiscard]] program::Tensor result(plan::OuterId y) const {
    program::Tensor tensor = tensor_of_blocks(round_);
    const Product& all = grid_.whole();
    tensor.shape = {all.m, all.n};
    for (std::uint64_t pass = 0; pass < layout_.y.count; ++pass)
      for (Tile tile = 0; tile < round_.tiles(); ++tile)
        tensor.parts.push_back(
            {program::OuterPlace{y, pass * layout_.y.stride() + layout_.results[tile]},
             word(round_.result_bytes(round_.cell(tile)))});
    tensor.runs = [grid = grid_, round = round_](std::size_t part, program::Runs& runs) {
      const RoundGrid::Origin at = grid.origin(part / round.tiles());
      const bool turned = round.plan().stationary == Stationary::a;
      add_blocks(round, static_cast<std::uint32_t>(part % round.tiles()),
                 {roles(grid.whole(), round.plan().stationary),
                  turned ? Geometry::YPlace{at.n, at.m} : Geometry::YPlace{at.m, at.n}},
                 runs);
    };
    return tensor;
  }

  RoundGrid grid_;
  Geometry round_;
  const MachineConfig& machine_;
  OutsideLayout layout_;
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

void describe_rounds(plan::Description& description, const Problem& problem, const Plan& plan,
                     const MachineConfig& machine, const elf::KernelCode& code, const Operand* a,
                     const Operand* b) {
  RoundStatement(problem, plan, machine, code, description).state(a, b);
}

OutsideTraffic outside_traffic(const Problem& problem, const Plan& plan) {
  const RoundGrid grid(problem, plan);
  const Geometry round(grid.problem(), plan);
  const std::uint64_t passes = grid.passes();
  return {passes * grid.rounds().k * (round.x_bytes() + round.w_bytes()),
          passes * round.result_bytes()};
}

}  // namespace tessera::gemm
