#include "kernels/spmm_static/plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "kernels/gemm/shape.h"
#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/planner.h"
#include "kernels/spmm_static/work_list.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"

namespace tessera::spmm_static {

namespace {

constexpr config::Names<Algorithm, 2> kAlgorithms{
    {{"best", Algorithm::best}, {"published", Algorithm::published}}};

constexpr config::Names<std::optional<Dealing>, 4> kDealings{{{"chosen", std::nullopt},
                                                              {"blocks", Dealing::blocks},
                                                              {"work", Dealing::work},
                                                              {"rows", Dealing::rows}}};

/// Looks at a partition cost time by the block: so many blocks in all, but a few looks anyway.
constexpr std::uint64_t kBlocksLookedAt = 6'000'000;
constexpr std::uint64_t kLeastLooks = 6;
constexpr std::uint64_t kMostLooks = 120;

std::string_view name_of(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)].first;
}

class Chooser {
 public:
  Chooser(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
          const MachineConfig& machine, const Pinned& pinned)
      : w_(w), machine_(machine), pinned_(pinned), n_(n), problem_(make_problem(w, shape, n)) {}

  Plan choose() {
    check_pinned();
    if (pinned_.parts != 0 && pinned_.bands != 0) {
      look_at_dealings({pinned_.parts, pinned_.bands});
    } else if (pinned_.algorithm == Algorithm::published) {
      const Found found =
          published_cuts(problem_, machine_, {pinned_.parts, pinned_.bands, Dealing::blocks});
      closest_ = found.closest;
      if (found.cuts) look_at_dealings(*found.cuts);
    } else {
      search();
    }
    if (!best_ && closest_ && pinned_.algorithm == Algorithm::best) look_at_dealings(*closest_);
    if (!best_) fail();
    return *std::move(best_);
  }

 private:
  /// Where the fewest cycles are expected, then about the best found so far until that is better
  /// than all its neighbours.
  void search() {
    looks_left_ = std::clamp(kBlocksLookedAt / std::max<std::uint64_t>(problem_.blocks, 1),
                             kLeastLooks, kMostLooks);
    const std::uint64_t climbing = looks_left_ / 2;
    for (const Cuts& cuts : likely_cuts()) {
      if (looks_left_ <= climbing) break;
      look_at_dealings(cuts);
    }
    std::optional<Cuts> centre;
    while (best_ && looks_left_ > 0 && centre != best_cuts_) {
      centre = best_cuts_;
      for (const Cuts& cuts : neighbours(*centre)) look_at_dealings(cuts);
    }
  }

  /// Cuts in order of the cycles expected if tiles take what they need each on their own.
  [[nodiscard]] std::vector<Cuts> likely_cuts() {
    struct Candidate {
      std::uint64_t cycles;
      Cuts cuts;
    };
    std::vector<Candidate> all;
    const Cuts most = most_cuts(problem_, Planner::ours);
    for (std::uint32_t parts = 1; parts <= (pinned_.parts != 0 ? 1 : most.parts); ++parts) {
      for (std::uint32_t bands = 1; bands <= (pinned_.bands != 0 ? 1 : most.bands); ++bands) {
        const Cuts cuts{pinned_.parts != 0 ? pinned_.parts : parts,
                        pinned_.bands != 0 ? pinned_.bands : bands};
        const auto expected = expect(problem_, machine_, cuts, Planner::ours);
        if (!expected) continue;
        if (expected->bytes <= capacity()) all.push_back({expected->cycles, cuts});
        if (expected->bytes < least_bytes_) closest_ = cuts;
        least_bytes_ = std::min(least_bytes_, expected->bytes);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cycles < b.cycles; });
    std::vector<Cuts> cuts;
    // Neighbours are alike: from the best on, every third.
    for (std::size_t i = 0; i < all.size(); i += 3) cuts.push_back(all[i].cuts);
    return cuts;
  }

  [[nodiscard]] std::vector<Cuts> neighbours(const Cuts& cuts) const {
    std::vector<Cuts> found;
    const auto add = [&](std::uint32_t parts, std::uint32_t bands) {
      const Cuts most = most_cuts(problem_, Planner::ours);
      if (parts == 0 || parts > most.parts || (pinned_.parts != 0 && parts != pinned_.parts))
        return;
      if (bands == 0 || bands > most.bands || (pinned_.bands != 0 && bands != pinned_.bands))
        return;
      found.push_back({parts, bands});
    };
    const auto [parts, bands, dealing] = cuts;
    add(parts, 1);
    for (const std::uint32_t near : {bands - 1, bands + 1, bands / 2, bands * 2}) add(parts, near);
    for (const std::uint32_t near : {parts - 1, parts + 1, parts / 2, parts * 2}) add(near, bands);
    add(parts * 2, ceil_div(bands, 2U));
    add(ceil_div(parts, 2U), bands * 2);
    return found;
  }

  /// The ways to deal that may be best for these cuts.
  void look_at_dealings(const Cuts& cuts) {
    const bool published = pinned_.algorithm == Algorithm::published;
    for (const Dealing dealing : {Dealing::blocks, Dealing::work, Dealing::rows}) {
      if (pinned_.dealing ? dealing != *pinned_.dealing : published && dealing != Dealing::blocks) {
        continue;
      }
      // Blocks take equally long in any row; whole rows save adding where there is one band.
      if (!pinned_.dealing && dealing == Dealing::work && problem_.shape.block > 1) continue;
      if (!pinned_.dealing && dealing == Dealing::rows && cuts.bands > 1) continue;
      look_at({cuts.parts, cuts.bands, dealing});
    }
  }

  void look_at(const Cuts& cuts) {
    if (!seen_.insert(cuts).second) return;
    looks_left_ -= looks_left_ > 0 ? 1 : 0;
    Partition partition = make_partition(w_, problem_.shape, n_, machine_.tiles, cuts);
    if (partition.parts.empty()) return;
    if (pinned_.algorithm == Algorithm::published) {
      partition.lone_adding = LoneAdding{machine_.tiles, machine_.fabric.receive_bytes_per_cycle,
                                         machine_.sync.chip_cycles};
    }
    if (program::total(tile_memory(partition)) > capacity()) {
      if (!closest_) closest_ = cuts;
      return;
    }
    if (!places_fit(partition)) {
      unnamed_ = cuts;
      return;
    }
    const Prediction prediction = predict(partition, machine_);
    if (best_ && best_->prediction.cycles <= prediction.cycles) return;
    best_ = Plan{pinned_.algorithm, cuts.dealing, std::move(partition), prediction};
    best_cuts_ = cuts;
  }

  [[nodiscard]] std::uint64_t capacity() const {
    return std::uint64_t{machine_.tile.sram_kib} * 1024;
  }

  void check_pinned() const {
    const std::uint32_t most = problem_.columns / problem_.shape.lanes();
    require("parts", pinned_.parts, std::min(most, machine_.tiles), "words of a row of X, tiles");
    require("bands", pinned_.bands, std::min(problem_.block_columns, machine_.tiles),
            "block columns, tiles");
  }

  static void require(const char* key, std::uint32_t found, std::uint32_t most, const char* what) {
    if (found <= most) return;
    throw KeyError(fmt::format("workload.plan.{}", key),
                   fmt::format("found {}, allowed 0 to {} ({})", found, most, what));
  }

  [[noreturn]] void fail() const {
    std::string what = fmt::format("spmm_static: {} x {} with {} of {} times {} does not fit {}",
                                   w_.rows, w_.columns, counted(w_.blocks(), "block"), w_.block,
                                   counted(n_, "column"), counted(machine_.tiles, "tile"));
    if (unnamed_) {
      throw UserError(fmt::format(
          "{}: with {} parts and {} bands a tile needs more than 65536 words of X, which is what "
          "work lists of 16-bit numbers can name",
          what, unnamed_->parts, unnamed_->bands));
    }
    if (!closest_) throw UserError(what + ": its bands and intervals need more tiles");
    what += fmt::format("; of the closest plan, {} parts and {} bands", closest_->parts,
                        closest_->bands);
    const Partition closest = make_partition(w_, problem_.shape, n_, machine_.tiles, *closest_);
    const program::CategoryBytes need = tile_memory(closest);
    if (program::total(need) <= capacity()) {
      throw UserError(fmt::format(
          "{}: tile 0 needs {} bytes, and the published planner keeps to {} (plan.algorithm = best "
          "does not)",
          what, program::total(need), planned_bytes(machine_)));
    }
    throw UserError(program::overflow_message(what, {&need, 1}, machine_));
  }

  const sparse::BlockMatrix& w_;
  const MachineConfig& machine_;
  const Pinned& pinned_;
  std::uint32_t n_;
  Problem problem_;
  std::optional<Plan> best_;
  std::optional<Cuts> best_cuts_;
  std::set<Cuts> seen_;
  std::uint64_t looks_left_ = 0;
  std::uint64_t least_bytes_ = ~std::uint64_t{0};
  std::optional<Cuts> closest_;  ///< what needs least, while nothing fits
  std::optional<Cuts> unnamed_;  ///< would fit, but for its work lists
};

}  // namespace

void describe(config::Fields& fields, Pinned& plan) {
  fields.field({"algorithm",
                "who chooses the cuts: best: our cost model for this very pattern; "
                "published: the published planner, for any pattern"},
               plan.algorithm, kAlgorithms);
  fields.field({"parts", "intervals of columns of X and Y; 0: chosen"}, plan.parts);
  fields.field({"bands", "bands of columns of W, added up at the end; 0: chosen"}, plan.bands);
  fields.field(
      {"dealing",
       "what each tile of a band has about equally much of: blocks (as published), work, or "
       "work in whole rows"},
      plan.dealing, kDealings);
}

nlohmann::ordered_json to_json(const Plan& plan) {
  return {{"algorithm", name_of(plan.algorithm)},
          {"parts", plan.partition.parts.size()},
          {"bands", std::max(plan.partition.deal.bands.count(), 1U)},
          {"dealing", config::name_of(kDealings, std::optional(plan.dealing))}};
}

Plan choose_plan(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
                 const MachineConfig& machine, const Pinned& pinned) {
  if (shape.block > 1) gemm::require_unit(machine, shape.unit());
  return Chooser(w, shape, n, machine, pinned).choose();
}

}  // namespace tessera::spmm_static
