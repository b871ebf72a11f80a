#pragma once

#include <memory>

#include "kernels/gemm/gemm.h"

/// The workload `gemm` of types with vectors.
namespace tessera::gemm {

class VectorGemm : public Workload {
 public:
  VectorGemm(const Options& options, MachineCosts& costs);

  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] program::Program lowered() const override;

  MachineConfig machine_;
  PricedProduct chosen_;
  VectorProduct product_;
};

/// The workload for the type and the machine.
std::unique_ptr<Workload> make_gemm(const Options& options, MachineCosts& costs);

}  // namespace tessera::gemm
