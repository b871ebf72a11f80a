#pragma once

#include <optional>

#include "kernels/external.h"
#include "kernels/gemm/shape.h"
#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

namespace tessera::gemm {

/// Rounds of a product with external operands: parts of m, n and k.
struct Rounds {
  std::uint32_t m = 1;
  std::uint32_t n = 1;
  std::uint32_t k = 1;
  kernels::PinnedLoads loads = {};  ///< always set, except in a pinned plan
  auto operator<=>(const Rounds&) const = default;
};
void describe(config::Fields& fields, Rounds& rounds);

/// Partition of a product over tiles and time. Every tile computes one part of rows x columns over
/// one part of the depth, in `cuts` supersteps; parts of the depth are then added.
struct Plan {
  std::uint32_t split_m = 1;
  std::uint32_t split_n = 1;
  std::uint32_t split_k = 1;
  std::uint32_t cuts = 1;  ///< supersteps in which a tile's part of k is loaded
  Stationary stationary = Stationary::b;
  Type partials = Type::f16;
  Stationary pairs = Stationary::a;   ///< operand of which a pair receives the same part
  kernels::Form unit = {};            ///< form of the product
  std::optional<Rounds> rounds = {};  ///< if operands are external; the rest is per round

  auto operator<=>(const Plan&) const = default;
};
void describe(config::Fields& fields, Plan& plan);

/// A planner's input.
struct Problem {
  Product product;
  Type dtype = Type::f16;
  bool any_partials = true;  ///< f16: the planner may choose them
  Type partials = Type::f16;
  Layout layout = Layout::blocked;
  MatrixUnitConfig unit;
  std::uint64_t reserved = 0;  ///< bytes of each tile used by other steps of the program
  /// Granularity to which other steps pad the operands: inputs and outputs of blocks must divide
  /// it; 0: the product pads.
  std::uint32_t grain = 0;
  bool outside = false;  ///< operands and result are in external memory
};

/// A plan with its costs on a machine.
struct Candidate {
  Plan plan;
  Prediction prediction;
  std::uint64_t tile_bytes = 0;  ///< bytes of the fullest tile
  std::string misfit = {};       ///< why no plan fits the tiles' SRAM; empty: this plan fits
};

/// The plan with the fewest predicted cycles that fits the machine's SRAM; else the one with the
/// lowest need.
Candidate find_plan(const Problem& problem, MachineCosts& costs);
/// Like find_plan(); throws UserError if none fits.
Candidate choose_plan(const Problem& problem, MachineCosts& costs);

/// A pinned plan with its costs. Throws KeyError if it is infeasible (more parts than there are
/// tiles, rows or blocks; partials that the type does not have).
Candidate pinned_plan(const Plan& pinned, const Problem& problem, MachineCosts& costs);

}  // namespace tessera::gemm
