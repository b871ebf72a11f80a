#pragma once

#include <memory>

#include "kernels/gemm/array_lists.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/vector_operand.h"

/// The workload `gemm` of types with vectors, on an array of cores with memory tiles: A, B and C
/// lie in DDR.
namespace tessera::gemm {

class ArrayGemm : public Workload {
 public:
  ArrayGemm(const Options& options, MachineCosts& costs);

  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] program::Program lowered() const override;

  Options options_;
  const VectorType& type_;
  PricedArray chosen_;
  VectorOperand a_, b_;
  ArrayProduct product_;
};

/// The workload for the machine: on tiles that exchange with each other, or on an array.
std::unique_ptr<Workload> make_gemm(const Options& options, MachineCosts& costs);

}  // namespace tessera::gemm
