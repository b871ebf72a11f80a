#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/fft/reference.h"
#include "kernels/fft/vertices.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/search.h"
#include "sim/program/workload.h"

/// The workload `fft`: the discrete Fourier transform of complex f32 points in one or two
/// dimensions, or of a batch of such arrays, stacked by rows. In layout natural, points and results
/// are in order, in equal contiguous parts over all tiles (two real parts, then their imaginary
/// parts); moving them to the tiles that transform them and back is measured.
namespace tessera::fft {

struct Options {
  Problem problem;
  std::string x;  ///< .npy file; empty: seeded
  std::uint64_t seed = 1;
  std::optional<Plan> plan;  ///< pinned; none: searched
};
void describe(config::Fields& fields, Options& options);

/// Inputs of a program's description; its functions hold a reference to them.
struct Subject {
  Options options;
  MachineConfig machine;
  data::DenseOperand x;  ///< two numbers of a row per point
  elf::KernelCode code{"fft"};
  std::shared_ptr<Division> division = std::make_shared<Division>();

  Subject(const Options& options, const MachineConfig& machine);
  [[nodiscard]] const Problem& problem() const { return options.problem; }
  /// Input point `number`.
  [[nodiscard]] Complex point(std::uint64_t number) const;
};

std::string text(const Subject& subject);
WorkloadSummary summary(const Subject& subject, const Plan& plan);
CheckResult checked(const Subject& subject, const Plan& plan, const TensorReader& tensors,
                    HostThreads& threads);
/// The program, with the result as tensor X. Tile 0 has the most work.
plan::Described described(const std::shared_ptr<const Subject>& subject, const Plan& plan);

}  // namespace tessera::fft
