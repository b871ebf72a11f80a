#pragma once

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
  Plan plan;
  Prediction prediction;
  std::uint64_t tile_bytes = 0;  ///< that the fullest tile needs
};

/// The plan of least predicted cycles that fits the machine's SRAM. Throws UserError if none does.
Candidate choose_plan(const Problem& problem, MachineCosts& costs);

/// A pinned plan with its costs. Throws KeyError if it cannot be carried out.
Candidate pinned_plan(const Plan& plan, const Problem& problem, plan::Pricing& pricing);

}  // namespace tessera::butterfly
