#pragma once

#include <optional>

#include "kernels/planned.h"
#include "sim/data/seeded.h"
#include "sim/elf/codelet.h"

/// The workload `scan`: sums of the first 1, 2, ... elements of a vector that lies on all tiles.
/// Each tile adds up what its workers have, tiles of a group tell each other their sums, groups
/// theirs, and workers write running sums from there on.
namespace tessera::scan {

struct Plan {
  std::uint32_t group = 1;  ///< tiles that tell each other their sums
  std::uint32_t tiles = 0;  ///< that have elements; 0: as many as there are
};
void describe(config::Fields& fields, Plan& plan);

struct Options {
  std::uint64_t elements = 1U << 20;
  program::Type dtype = program::Type::i32;
  bool exclusive = false;
  std::uint64_t seed = 1;
  std::optional<Plan> plan;
};
void describe(config::Fields& fields, Options& options);

/// What a program is described from; its functions keep it.
struct Problem {
  Options options;
  MachineConfig machine;
  elf::KernelCode code{"scan"};

  [[nodiscard]] data::Seeded x() const { return {options.dtype, options.seed, 0}; }
  [[nodiscard]] std::uint32_t contexts() const { return machine.tile.contexts; }
  [[nodiscard]] std::uint32_t most_tiles() const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(options.elements, machine.tiles));
  }
};

kernels::Planned<Plan> planned(const std::shared_ptr<const Problem>& problem, MachineCosts& costs);
WorkloadSummary summary(const Problem& problem, const Plan& plan);
plan::Description describe_program(const std::shared_ptr<const Problem>& problem, const Plan& plan);
CheckResult checked(const Problem& problem, const Plan& plan, const TensorReader& tensors,
                    const CheckRequest& request);

using Scan = kernels::PlannedWorkload<Problem, Plan>;

}  // namespace tessera::scan
