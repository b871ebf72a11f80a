#pragma once

#include <memory>
#include <string>

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
  Pinned plan;
};
void describe(config::Fields& fields, Options& options);

/// Problem, plan and everything derived from them, fixed at construction.
class SpmmStatic : public Workload {
 public:
  /// Throws UserError if the matrix cannot be read, holds values outside dtype, or no plan fits.
  SpmmStatic(Options options, MachineCosts& costs);

  [[nodiscard]] program::Program build() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] Surroundings surroundings(const MachineCosts& costs) const;

  Options options_;
  std::uint32_t contexts_;
  sparse::BlockMatrix w_;
  data::DenseOperand x_;
  Plan plan_;
};

/// Roundings that a result goes through.
kernels::Rounding rounding_of(const Partition& partition);

/// The program of a plan. The finished Y of tile t lies in buffer t.
program::Program build_program(const Partition& partition, const sparse::BlockMatrix& w,
                               const data::DenseOperand& x, std::uint32_t contexts, Region region);
constexpr program::BufferId y_buffer(std::uint64_t tile) {
  return program::BufferId(static_cast<std::uint32_t>(tile));
}

}  // namespace tessera::spmm_static
