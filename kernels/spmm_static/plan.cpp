#include "kernels/spmm_static/plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include "kernels/spmm_static/looks.h"
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

/// Looks at a partition cost time by the block: so many blocks in all, but a few looks anyway.
constexpr std::uint64_t kBlocksLookedAt = 6'000'000;
constexpr std::uint64_t kLeastLooks = 6;
constexpr std::uint64_t kMostLooks = 120;

/// Each tile takes its own rows of X; its code takes what the machine says.
class OurPricing final : public Pricing {
 public:
  explicit OurPricing(Cost& cost) : cost_(cost) {}

  [[nodiscard]] Expected price(const TileWork& work, bool shares_values) override {
    const auto received = [&](std::uint64_t bytes) {
      return cost_.costs().exchange({0, bytes, 0, cost_.machine().tiles});
    };
    std::uint64_t cycles = received(work.x_bytes() + (shares_values ? work.value_bytes() : 0)) +
                           cost_.product(work.rows, std::max(work.blocks, work.rows), work.width) +
                           received(work.partial_bytes());
    if (work.partial_rows > 1)
      cycles += cost_.adding(ceil_div(work.q_bytes() / 8, work.partial_rows), work.partial_rows);
    const std::uint64_t lists = 2 * (work.blocks + work.rows);
    return {cycles, std::max(work.x_bytes() + work.value_bytes() + work.q_bytes() + lists,
                             work.partial_bytes() + work.q_bytes())};
  }
  [[nodiscard]] std::uint32_t most_parts() const override { return cost_.machine().tiles; }
  [[nodiscard]] std::uint32_t meeting(std::uint32_t /*asked*/, std::uint32_t made) const override {
    return made;
  }
  [[nodiscard]] bool names(const Problem& /*problem*/, const Bands& /*bands*/,
                           std::uint32_t /*width*/) const override {
    return true;  // partitions are looked at one by one
  }

 private:
  Cost& cost_;
};

/// The cuts that the published planner chooses; pinned numbers (not 0) are taken as they are.
sparse::published::Policy::Found published_cuts(const Looks& looks) {
  const Pinned& pinned = looks.pinned();
  sparse::published::Policy::Found found{Cuts{pinned.parts, pinned.bands}, std::nullopt};
  if (pinned.parts == 0 || pinned.bands == 0)
    found = looks.policy().static_cuts(looks.problem(), *found.cuts);
  if (!found.cuts) return found;
  found.cuts->dealing = pinned.dealing.value_or(Dealing::blocks);
  found.cuts->sums = pinned.sums.value_or(Sums::placed);
  return found;
}

/// Where the fewest cycles are expected, then about the best found so far until that is better than
/// all its neighbours, and what the published planner chooses.
class Search {
 public:
  explicit Search(Looks& looks)
      : looks_(looks),
        pinned_(looks.pinned()),
        pricing_(looks.cost()),
        most_(most_cuts(looks.problem(), pricing_)) {}

  Plan run() {
    if (pinned_.parts != 0 && pinned_.bands != 0) {
      look_at_dealings({pinned_.parts, pinned_.bands});
    } else {
      search();
    }
    if (!looks_.any() && looks_.closest()) look_at_dealings(*looks_.closest());
    look_at_placed();
    look_at_published();
    return looks_.take(looks_.room(), "the machine has room");
  }

 private:
  void search() {
    looks_left_ = std::clamp(kBlocksLookedAt / std::max<std::uint64_t>(looks_.problem().blocks, 1),
                             kLeastLooks, kMostLooks);
    const std::uint64_t climbing = looks_left_ / 2;
    for (const Cuts& cuts : likely_cuts()) {
      if (looks_left_ <= climbing) break;
      look_at_dealings(cuts);
    }
    std::optional<Cuts> centre;
    while (looks_.any() && looks_left_ > 0 && centre != looks_.best_cuts()) {
      centre = looks_.best_cuts();
      for (const Cuts& cuts : neighbours(*centre)) look_at_dealings(cuts);
    }
  }

  /// Cuts in order of the cycles expected if tiles take what they need each on their own.
  [[nodiscard]] std::vector<Cuts> likely_cuts() {
    std::vector<std::pair<std::uint64_t, Cuts>> all;
    std::optional<Cuts> closest;
    std::uint64_t least_bytes = ~std::uint64_t{0};
    for_all_cuts(looks_.problem(), looks_.cost().machine().tiles, {pinned_.parts, pinned_.bands},
                 pricing_, [&](const Cuts& cuts, const Expected& expected) {
                   if (expected.bytes <= looks_.room()) all.emplace_back(expected.cycles, cuts);
                   if (expected.bytes < least_bytes) closest = cuts;
                   least_bytes = std::min(least_bytes, expected.bytes);
                 });
    looks_.set_closest(closest);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Cuts> cuts;
    // Neighbours are alike: from the best on, every third.
    for (std::size_t i = 0; i < all.size(); i += 3) cuts.push_back(all[i].second);
    return cuts;
  }

  [[nodiscard]] std::vector<Cuts> neighbours(const Cuts& cuts) const {
    std::vector<Cuts> found;
    const auto add = [&](std::uint32_t parts, std::uint32_t bands) {
      if (parts == 0 || parts > most_.parts || (pinned_.parts != 0 && parts != pinned_.parts))
        return;
      if (bands == 0 || bands > most_.bands || (pinned_.bands != 0 && bands != pinned_.bands))
        return;
      found.push_back({parts, bands});
    };
    const std::uint32_t parts = cuts.parts;
    const std::uint32_t bands = cuts.bands;
    add(parts, 1);
    for (const std::uint32_t near : {bands - 1, bands + 1, bands / 2, bands * 2}) add(parts, near);
    for (const std::uint32_t near : {parts - 1, parts + 1, parts / 2, parts * 2}) add(near, bands);
    add(parts * 2, ceil_div(bands, 2U));
    add(ceil_div(parts, 2U), bands * 2);
    return found;
  }

  /// The ways to deal that may be best for these cuts.
  void look_at_dealings(const Cuts& cuts) {
    for (const Dealing dealing : {Dealing::blocks, Dealing::work, Dealing::rows}) {
      if (pinned_.dealing && dealing != *pinned_.dealing) continue;
      // Blocks take equally long in any row; whole rows save adding where there is one band.
      const bool elements = looks_.problem().shape.block == 1;
      if (!pinned_.dealing && dealing == Dealing::work && !elements) continue;
      if (!pinned_.dealing && dealing == Dealing::rows && cuts.bands > 1) continue;
      look_at({cuts.parts, cuts.bands, dealing, pinned_.sums.value_or(Sums::home)});
    }
  }

  void look_at(const Cuts& cuts) {
    if (!seen_.insert(cuts).second) return;
    looks_left_ -= looks_left_ > 0 ? 1 : 0;
    looks_.look(looks_.partition(cuts), cuts);
  }

  /// Sums placed one by one, for the best cuts.
  void look_at_placed() {
    auto placed = looks_.best_cuts();
    if (!placed || pinned_.sums.value_or(Sums::placed) != Sums::placed) return;
    placed->sums = Sums::placed;
    look_at(*placed);
  }
  void look_at_published() {
    if (const auto found = published_cuts(looks_); found.cuts)
      looks_.look(looks_.partition(*found.cuts), *found.cuts, true);
  }

  Looks& looks_;
  const Pinned& pinned_;
  OurPricing pricing_;
  Cuts most_;
  std::set<Cuts> seen_;
  std::uint64_t looks_left_ = 0;
};

Plan published_plan(Looks& looks) {
  const sparse::published::Policy::Found found = published_cuts(looks);
  looks.set_closest(found.closest);
  if (found.cuts) looks.look(looks.partition(*found.cuts), *found.cuts);
  return looks.take(looks.policy().planned_bytes(),
                    "the published planner (plan.algorithm = best does not) keeps");
}

void require_at_most(const std::string& key, std::uint32_t found, std::uint32_t most,
                     const char* what) {
  if (found <= most) return;
  throw KeyError(key, fmt::format("found {}, allowed 0 to {} ({})", found, most, what));
}

}  // namespace

void describe(config::Fields& fields, Pinned& plan) {
  fields.field({"algorithm",
                "who chooses the cuts: best: our cost model for this very pattern; "
                "published: the published planner, for any pattern"},
               plan.algorithm, kAlgorithms);
  fields.field({"parts", "intervals of columns of X and Y; 0: chosen"}, plan.parts);
  fields.field({"bands",
                "bands of columns of W with equally many blocks, added up at the end: fewer where "
                "whole columns go that way; 0: chosen"},
               plan.bands);
  fields.field(
      {"dealing",
       "what each tile of a band has about equally much of: blocks (as published), work, or "
       "work in whole rows"},
      plan.dealing, kDealings);
  fields.field({"sums",
                "where partial rows are added up: home: where their results are wanted; placed: "
                "each sum where the published library places it"},
               plan.sums, kSums);
}

Pinned pinned(const Plan& plan) {
  const Cuts& cuts = plan.partition.cuts;
  return {plan.algorithm, word(plan.partition.parts.size()), cuts.bands, cuts.dealing, cuts.sums};
}

Plan choose_plan(const sparse::BlockMatrix& w, const sparse::Shape& shape, std::uint32_t n,
                 MachineCosts& costs, const Pinned& pinned, const Surroundings& around) {
  const MachineConfig& machine = costs.machine();
  require_at_most(around.keys + ".parts", pinned.parts,
                  std::min(ceil_div(n, shape.lanes()), machine.tiles),
                  "words of a row of X, tiles");
  require_at_most(around.keys + ".bands", pinned.bands, std::min(w.block_columns(), machine.tiles),
                  "block columns, tiles");
  std::uint64_t most_in_row = 0;
  for (std::size_t row = 0; row + 1 < w.row_begin.size(); ++row)
    most_in_row = std::max(most_in_row, w.row_begin[row + 1] - w.row_begin[row]);
  Cost cost(shape, most_in_row, costs);
  Looks looks(w, shape, n, cost, pinned, around);
  return pinned.algorithm == Algorithm::published ? published_plan(looks) : Search(looks).run();
}

}  // namespace tessera::spmm_static
