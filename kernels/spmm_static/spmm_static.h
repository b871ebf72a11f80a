#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/gemm/vector_product.h"
#include "kernels/sparse/check.h"
#include "kernels/sparse/operand/weights.h"
#include "kernels/spmm_static/plan.h"
#include "kernels/spmm_static/product.h"
#include "sim/config/fields.h"
#include "sim/data/dense_operand.h"
#include "sim/program/workload.h"

/// The workload `spmm_static`: Y[m,n] = W[m,k] X[k,n], W sparse and known at build.
namespace tessera::spmm_static {

struct Options {
  sparse::WeightOptions weights;  ///< and the type and seed of X
  std::uint32_t n = 64;
  std::string x;  ///< .npy file; empty: seeded
  Type partials = Type::f32;
  kernels::Layout layout = kernels::Layout::blocked;
  Region region = Region::all;
  bool external = false;  ///< W's values, X and Y lie in external memory
  Pinned plan;
  // Only for types with vectors:
  std::uint32_t shift = 0;                ///< right shift of integer sums
  std::optional<gemm::KeptPlan> vectors;  ///< as plan
};
void describe(config::Fields& fields, Options& options);

/// Problem, plan and everything derived from them, fixed at construction.
class SpmmStatic : public Workload {
 public:
  /// Throws UserError if the matrix cannot be read, holds values outside dtype, or no plan fits.
  SpmmStatic(Options options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  Options options_;
  std::uint32_t contexts_;
  sparse::BlockMatrix w_;
  data::DenseOperand x_;
  std::vector<Partition> partitions_;       ///< partitions of parts of the rows of W, or of all
  std::vector<sparse::BlockMatrix> parts_;  ///< these, where there are several
};

/// Makes the workload for the type and the machine. For types with vectors it is gemm's product of
/// X^T and W^T, in which only the blocks of W are stored, moved and multiplied. Throws as
/// SpmmStatic.
std::unique_ptr<Workload> make_spmm_static(const Options& options, MachineCosts& costs);

/// Compares Y = W X as sparse::check_product(), where each of `parts` of the rows of W has a
/// partition.
CheckResult check_product(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts, const sparse::BlockMatrix& w,
                          const sparse::DenseRows& x, std::span<const float> y,
                          const CheckRequest& request);

}  // namespace tessera::spmm_static
