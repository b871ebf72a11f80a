#pragma once

#include "kernels/fft/vertices.h"
#include "sim/program/workload.h"

namespace tessera::fft {

struct Candidate {
  Plan plan;
  Prediction prediction;
  Division division;  ///< of its vertices among workers
};

/// The plan of least predicted cycles that fits the machine's SRAM. Throws UserError if none does.
Candidate choose_plan(const Problem& problem, MachineCosts& costs);

/// A pinned plan with its costs. Throws KeyError if it cannot be carried out.
Candidate pinned_plan(const Plan& plan, const Problem& problem, MachineCosts& costs);

}  // namespace tessera::fft
