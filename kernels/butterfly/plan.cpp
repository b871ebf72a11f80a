#include "kernels/butterfly/plan.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "kernels/butterfly/program.h"
#include "kernels/sample.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::butterfly {

namespace {

std::uint64_t capacity(const MachineConfig& machine) {
  return std::uint64_t{machine.tile.sram_kib} * 1024;
}

/// Stages that the tile code can take at once.
std::uint32_t most_fused(const Problem& problem) {
  const bool one =
      problem.pass == Pass::grad_twiddles || problem.complex_code() || problem.blocked();
  return one ? 1 : 2;
}

/// Rounds that may be of use: in layout planned the result takes the place of X, gradients of
/// twiddles are added up at once, and what is smaller than a stretch of X by far fits anyway.
std::uint32_t most_rounds(const Problem& problem, const MachineConfig& machine) {
  constexpr std::uint64_t kLeastShare = 64;
  if (problem.layout == Layout::planned || problem.pass == Pass::grad_twiddles) return 1;
  const std::uint64_t row = std::uint64_t{problem.units()} * problem.unit_bytes();
  if (row * problem.blocks() / machine.tiles > capacity(machine)) return 1;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      row * problem.blocks() * kLeastShare / machine.tiles / capacity(machine), 1,
      problem.units()));
}

/// Parts of the columns among workers; products of blocks divide them themselves.
std::uint32_t most_workers_n(const Problem& problem, const MachineConfig& machine) {
  return problem.blocked() ? 1 : machine.tile.contexts;
}

class Search {
 public:
  Search(const Problem& problem, MachineCosts& costs)
      : problem_(problem), machine_(costs.machine()), costs_(costs) {}

  /// As few rounds as fit.
  Candidate run() {
    for (std::uint32_t rounds = 1; !best_ && rounds <= most_rounds(problem_, machine_);
         rounds += (rounds + 2) / 3)
      try_splits(rounds);
    if (!best_) fail();
    return *best_;
  }

 private:
  void try_splits(std::uint32_t rounds) {
    const std::uint32_t most = std::min(problem_.pairs(), std::bit_floor(machine_.tiles));
    for (std::uint32_t parts = 1; parts <= most; parts *= 2) {
      Plan plan;
      plan.rounds = rounds;
      plan.split_features = parts;
      // As few parts as give the fullest tile as little.
      const std::uint32_t units = ceil_div(problem_.units(), rounds);
      const std::uint32_t split = std::min(problem_.units() / rounds, machine_.tiles / parts);
      plan.split_n = ceil_div(units, ceil_div(units, split));
      try_passes(plan);
    }
  }

  void try_passes(Plan plan) {
    for (plan.fused = 1; plan.fused <= most_fused(problem_); ++plan.fused) {
      for (plan.workers_n = 1; plan.workers_n <= most_workers_n(problem_, machine_);
           ++plan.workers_n) {
        if (machine_.tile.contexts % plan.workers_n == 0) try_plan(plan);
      }
    }
  }

  void try_plan(const Plan& plan) {
    const Geometry geometry{problem_, plan};
    // More than a tile holds is not worth building.
    if (geometry.bytes(0) > 2 * capacity(machine_) && plan.split_features * 2 <= machine_.tiles &&
        plan.split_features * 2 <= problem_.pairs())
      return;
    if (geometry.bytes(0) > UINT32_MAX) {  // offsets of a sample cannot say that
      program::CategoryBytes rows{};
      rows[static_cast<std::size_t>(program::Category::tensors)] = geometry.bytes(0);
      return refuse(plan, rows);
    }
    const kernels::Sample sample = build_sample(geometry, machine_);
    const program::CategoryBytes need = kernels::sample_memory(sample, machine_.tile);
    if (program::total(need) > capacity(machine_)) return refuse(plan, need);
    const Prediction prediction = kernels::predict_sample(sample, costs_);
    if (!best_ || prediction.cycles < best_->prediction.cycles)
      best_ = {plan, prediction, program::total(need)};
  }

  void refuse(const Plan& plan, const program::CategoryBytes& need) {
    if (closest_ && program::total(need) >= program::total(closest_need_)) return;
    closest_ = plan;
    closest_need_ = need;
  }

  [[noreturn]] void fail() const {
    throw UserError(program::overflow_message(
        fmt::format("no plan of butterfly for features={} n={} fits {}; of the closest, {}",
                    problem_.features, problem_.n, counted(machine_.tiles, "tile"),
                    config::resolved(*closest_).dump()),
        {&closest_need_, 1}, machine_));
  }

  const Problem& problem_;
  const MachineConfig& machine_;
  MachineCosts& costs_;
  std::optional<Candidate> best_;
  std::optional<Plan> closest_;  ///< of those that do not fit
  program::CategoryBytes closest_need_{};
};

void require(bool holds, const char* key, std::uint64_t found, const std::string& allowed) {
  if (holds) return;
  throw KeyError(fmt::format("workload.plan.{}", key),
                 fmt::format("found {}, allowed {}", found, allowed));
}

}  // namespace

void describe(config::Fields& fields, Plan& plan) {
  fields.field({"split_features", "parts of the features, a power of two"}, plan.split_features,
               {1, 1U << 24});
  fields.field({"split_n", "parts of the columns"}, plan.split_n, {1, 1U << 24});
  fields.field({"fused", "factors that a tile applies in registers"}, plan.fused, {1, 2});
  fields.field({"workers_n", "parts of a tile's columns among its workers"}, plan.workers_n,
               {1, 1024});
  fields.field({"rounds",
                "equal parts of the columns that are computed one after the other, in layout "
                "blocked"},
               plan.rounds, {1, 1U << 24});
}

Candidate choose_plan(const Problem& problem, MachineCosts& costs) {
  return Search(problem, costs).run();
}

Candidate pinned_plan(const Plan& plan, const Problem& problem, MachineCosts& costs) {
  const MachineConfig& machine = costs.machine();
  const std::uint32_t contexts = machine.tile.contexts;
  require(std::has_single_bit(plan.split_features) && plan.split_features <= problem.pairs(),
          "split_features", plan.split_features,
          fmt::format("a power of two up to {}, the pairs of a factor", problem.pairs()));
  require(plan.split_n >= 1 && plan.split_n <= problem.units(), "split_n", plan.split_n,
          fmt::format("1 to {} (words of n columns)", problem.units()));
  require(plan.fused <= most_fused(problem), "fused", plan.fused,
          fmt::format("1 to {}", most_fused(problem)));
  require(contexts % plan.workers_n == 0, "workers_n", plan.workers_n,
          fmt::format("divisors of {} (machine.tile.contexts)", contexts));
  require(plan.workers_n <= most_workers_n(problem, machine), "workers_n", plan.workers_n,
          "1 with workload.block above 1");
  const bool rounds = problem.layout == Layout::blocked && problem.pass != Pass::grad_twiddles;
  // The arguments of a round's vertices alone take more than so many bytes of a tile.
  constexpr std::uint64_t kLeastBytes = 64;
  const std::uint64_t most =
      std::min<std::uint64_t>(problem.units() / plan.split_n, capacity(machine) / kLeastBytes);
  require(plan.rounds <= (rounds ? most : 1), "rounds", plan.rounds,
          rounds ? fmt::format("1 to {} (words of n columns over split_n)", most)
                 : "1 but in layout blocked and passes forward and grad_input");
  const Geometry geometry{problem, plan};
  if (std::uint64_t{plan.split_features} * plan.split_n > machine.tiles) {
    throw KeyError("workload.plan",
                   fmt::format("found {} x {} parts, allowed at most one for each of {}",
                               plan.split_features, plan.split_n, counted(machine.tiles, "tile")));
  }
  const kernels::Sample sample = build_sample(geometry, machine);
  return {plan, kernels::predict_sample(sample, costs),
          program::total(kernels::sample_memory(sample, machine.tile))};
}

}  // namespace tessera::butterfly
