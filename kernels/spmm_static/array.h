#pragma once

#include <memory>

#include "kernels/gemm/array_lists.h"
#include "kernels/gemm/vector_operand.h"
#include "kernels/spmm_static/spmm_static.h"

/// The workload `spmm_static` of types with vectors, on an array of cores with memory tiles: gemm's
/// product there of X^T and W^T, of which the blocks that W has alone are stored, moved and
/// multiplied.
namespace tessera::spmm_static {

class ArraySpmm : public Workload {
 public:
  /// Throws UserError if the matrix cannot be read, holds values outside dtype, or no plan fits.
  ArraySpmm(const Options& options, MachineCosts& costs);

  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] program::Program lowered() const override;

  const gemm::VectorType& type_;
  sparse::BlockMatrix w_;
  gemm::KeptBlocks kept_;
  gemm::PricedArray chosen_;
  gemm::VectorOperand x_;
  gemm::ArrayProduct product_;
};

/// The workload for the machine: on tiles that exchange with each other, or on an array.
std::unique_ptr<Workload> make_spmm_static(const Options& options, MachineCosts& costs);

}  // namespace tessera::spmm_static
