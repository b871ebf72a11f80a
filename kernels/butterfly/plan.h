#pragma once

#include <optional>
#include <span>

#include "kernels/butterfly/shape.h"
#include "sim/config/fields.h"
#include "sim/plan/pricing.h"

namespace tessera::butterfly {

/// How a product is cut over tiles and workers.
struct Plan {
  std::uint32_t split_features = 1;  ///< parts of the features: a power of two
  std::uint32_t split_n = 1;         ///< parts of the columns
  std::uint32_t fused = 1;           ///< factors that are applied in registers
  std::uint32_t workers_n = 1;       ///< parts of a tile's columns among its workers
  std::uint32_t rounds = 1;          ///< equal parts of the columns, one after the other
  kernels::Form unit = {};           ///< of products of blocks; none: the first of their forms
  kernels::Form outer_unit = {};     ///< the same of their gradients
};
void describe(config::Fields& fields, Plan& plan);

struct Candidate {
  Problem problem;  ///< in the form of its products
  Plan plan;
  Prediction prediction;
  std::uint64_t tile_bytes = 0;  ///< that the fullest tile needs
};

/// The plan of least predicted cycles in any of these forms of a problem that fits the machine's
/// SRAM, or the pinned plan in the form that is best for it. Throws UserError if none fits,
/// KeyError if the pinned one cannot be carried out.
Candidate choose_plan(std::span<const Problem> forms, const std::optional<Plan>& pinned,
                      MachineCosts& costs);

/// A plan as a part of a program, with its costs; its exchanges are estimated. Throws KeyError if
/// it cannot be carried out.
Candidate pinned_plan(const Plan& plan, const Problem& problem, plan::Pricing& pricing);

}  // namespace tessera::butterfly
