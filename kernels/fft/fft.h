#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/fft/plan.h"
#include "kernels/fft/reference.h"
#include "sim/data/dense_operand.h"

/// The workload `fft`: the discrete Fourier transform of complex f32 points in one or two
/// dimensions, or of a batch of such arrays, one below the other. In layout natural points are
/// given and wanted in their order, in equal stretches on all tiles (two real parts, then their
/// imaginary parts), and bringing them to where they are transformed and back is part of the
/// measured region.
namespace tessera::fft {

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
