#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/check/product.h"
#include "kernels/gemm/bit_exact.h"
#include "kernels/gemm/outside.h"
#include "kernels/gemm/vector_product.h"

/// The workload `gemm`: C[m, n] = A[m, k] B[k, n] on the matrix units of all tiles. Operands and
/// result are blocked or by rows, spread evenly over the tiles; moving them to the tiles that
/// multiply them, in the required order, is measured.
namespace tessera::gemm {

struct Options {
  Product product{1024, 1024, 1024};
  Type dtype = Type::f16;
  std::optional<Type> partials;  ///< none: chosen
  Layout layout = Layout::blocked;
  bool external = false;  ///< operands and result are in external memory
  std::string a;          ///< .npy file; empty: seeded
  std::string b;
  std::uint64_t seed = 1;
  std::optional<Plan> plan;  ///< pinned; none: searched
  // Only for vector types:
  std::uint32_t shift = 0;            ///< right shift of integer sums
  std::optional<VectorPlan> vectors;  ///< as `plan`
};
void describe(config::Fields& fields, Options& options);

/// The workload for the type and the machine: a Gemm or a VectorWorkload.
std::unique_ptr<Workload> make_gemm(const Options& options, MachineCosts& costs);

class Gemm : public Workload {
 public:
  Gemm(const Options& options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  Options options_;
  MachineConfig machine_;
  Candidate chosen_;
  RoundGrid grid_;
  Geometry geometry_;  ///< geometry of a round
  Operand a_;
  Operand b_;
};

}  // namespace tessera::gemm
