#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/fft/reference.h"
#include "kernels/fft/vertices.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/description.h"
#include "sim/program/workload.h"

/// The workload `fft`: the discrete Fourier transform of complex f32 points in one or two
/// dimensions, or of a batch of such arrays, one below the other. In layout natural points are
/// given and wanted in their order, in equal stretches on all tiles (two real parts, then their
/// imaginary parts), and bringing them to where they are transformed and back is part of the
/// measured region.
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

struct Options {
  Problem problem;
  std::string x;  ///< .npy file; empty: seeded
  std::uint64_t seed = 1;
  std::optional<Plan> plan;  ///< pinned; none: searched
};
void describe(config::Fields& fields, Options& options);

class Fft : public Workload {
 public:
  Fft(const Options& options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] Complex point(std::uint64_t number) const;

  Options options_;
  MachineConfig machine_;
  Candidate chosen_;
  Digits digits_;
  data::DenseOperand x_;
};

}  // namespace tessera::fft
