#pragma once

#include <vector>

#include "kernels/fft/shape.h"
#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

namespace tessera::fft {

/// How a transform is cut: into phases of shorter ones, over tiles, and a phase into passes.
struct Plan {
  /// Of each phase, the arrays of a batch before them; their product is the points of all.
  std::vector<std::uint32_t> lengths;
  /// Tiles along each exchange between phases, those among which a batch is dealt before them.
  std::vector<std::uint32_t> parts;
  std::vector<std::uint32_t> radices;  ///< of all passes, phase after phase
};
void describe(config::Fields& fields, Plan& plan);

struct Candidate {
  Plan plan;
  Prediction prediction;
  std::vector<std::uint32_t> unit_parts;  ///< of every vertex among workers, see Vertices
};

/// The plan of least predicted cycles that fits the machine's SRAM. Throws UserError if none does.
Candidate choose_plan(const Problem& problem, MachineCosts& costs);

/// A pinned plan with its costs. Throws KeyError if it cannot be carried out.
Candidate pinned_plan(const Plan& plan, const Problem& problem, MachineCosts& costs);

}  // namespace tessera::fft
