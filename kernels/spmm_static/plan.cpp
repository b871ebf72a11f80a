#include "kernels/spmm_static/plan.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "kernels/gemm/shape.h"
#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/planner.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"

namespace tessera::spmm_static {

namespace {

constexpr config::Names<Algorithm, 2> kAlgorithms{
    {{"best", Algorithm::best}, {"published", Algorithm::published}}};

/// Blocks above which fewer candidates are looked at closely, since each costs time by the block.
constexpr std::uint64_t kManyBlocks = 500'000;

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
    for (const Cuts& cuts : candidates()) look_at(cuts);
    if (!best_ && closest_ && pinned_.algorithm == Algorithm::best) look_at(*closest_);
    if (!best_) fail();
    return *std::move(best_);
  }

 private:
  [[nodiscard]] std::vector<Cuts> candidates() {
    const Cuts given{pinned_.parts, pinned_.bands};
    if (given.parts != 0 && given.bands != 0) return {given};
    if (pinned_.algorithm == Algorithm::published) {
      const Found found = published_cuts(problem_, machine_, given);
      if (found.cuts) return {*found.cuts};
      closest_ = found.closest;
      return {};
    }
    return likely_cuts();
  }

  /// Cuts of least expected cycles, if tiles take what they need each on their own.
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
    const std::size_t looks = problem_.blocks > kManyBlocks ? 4 : 12;
    // Neighbours are alike: from the best on, every third.
    for (std::size_t i = 0; i < all.size() && cuts.size() < looks; i += 3) {
      cuts.push_back(all[i].cuts);
    }
    return cuts;
  }

  void look_at(const Cuts& cuts) {
    Partition partition =
        make_partition(w_, problem_.shape, n_, machine_.tiles, cuts.parts, cuts.bands);
    if (partition.parts.empty()) return;
    if (program::total(tile_memory(partition)) > capacity()) {
      if (!closest_) closest_ = cuts;
      return;
    }
    const Prediction prediction = predict(partition, machine_);
    if (best_ && best_->prediction.cycles <= prediction.cycles) return;
    best_ = Plan{pinned_.algorithm, std::move(partition), prediction};
  }

  [[nodiscard]] std::uint64_t capacity() const {
    return std::uint64_t{machine_.tile.sram_kib} * 1024;
  }

  void check_pinned() const {
    const std::uint32_t most = problem_.columns / problem_.shape.column_grain();
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
    if (!closest_) throw UserError(what + ": its bands and intervals need more tiles");
    what += fmt::format("; of the closest plan, {} parts and {} bands", closest_->parts,
                        closest_->bands);
    const Partition closest =
        make_partition(w_, problem_.shape, n_, machine_.tiles, closest_->parts, closest_->bands);
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
  std::uint64_t least_bytes_ = ~std::uint64_t{0};
  std::optional<Cuts> closest_;  ///< what needs least, while nothing fits
};

}  // namespace

void describe(config::Fields& fields, Pinned& plan) {
  fields.field({"algorithm",
                "who chooses the cuts: best: our cost model for this very pattern; "
                "published: the published planner, for any pattern"},
               plan.algorithm, kAlgorithms);
  fields.field({"parts", "intervals of columns of X and Y; 0: chosen"}, plan.parts);
  fields.field({"bands", "bands of columns of W, added up at the end; 0: chosen"}, plan.bands);
}

nlohmann::ordered_json to_json(const Plan& plan) {
  return {{"algorithm", name_of(plan.algorithm)},
          {"parts", plan.partition.parts.size()},
          {"bands", std::max(plan.partition.deal.bands.count(), 1U)}};
}

Plan choose_plan(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
                 const MachineConfig& machine, const Pinned& pinned) {
  if (shape.block > 1) gemm::require_unit(machine, gemm::block_shape(shape.type, shape.partials));
  return Chooser(w, shape, n, machine, pinned).choose();
}

}  // namespace tessera::spmm_static
