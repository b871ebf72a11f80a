#pragma once

#include <array>
#include <functional>

#include "kernels/fft/vertices.h"
#include "sim/plan/description.h"
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

/// Input point `number`: its real and its imaginary part.
using Points = std::function<std::array<float, 2>(std::uint64_t number)>;

/// Inputs of a description beside the plan; used while it is stated. `code` outlives it.
struct Setting {
  const MachineConfig& machine;
  const elf::KernelCode& code;
  Division& division;
  plan::Pricing* pricing;  ///< for what `division` does not know; null: it knows all
};

/// The program, with the result as tensor X. Tile 0 has most to do. `points`: absent for plans.
plan::Description describe_program(const Digits& digits, const Setting& setting,
                                   const Points& points = {});

}  // namespace tessera::fft
