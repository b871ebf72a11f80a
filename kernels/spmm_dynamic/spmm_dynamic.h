#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/sparse/operand/weights.h"
#include "kernels/spmm_dynamic/program.h"
#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `spmm_dynamic`: products with a sparse W of which only the maximum number of
/// nonzeros is known when the program is built.
namespace tessera::spmm_dynamic {

struct Options {
  sparse::WeightOptions weights;
  std::uint32_t n = 256;
  std::string x;         ///< .npy file; empty: seeded
  std::string gradient;  ///< .npy file of Yg; empty: seeded
  Pass pass = Pass::forward;
  program::Type partials = program::Type::f32;
  sparse::Layout layout = sparse::Layout::blocked;
  double max_density = 0;          ///< 0: the patterns' density
  std::uint64_t max_nonzeros = 0;  ///< 0: from max_density
  double headroom = 0.3;
  double memory = 1;
  std::uint32_t patterns = 1;
  Region region = Region::all;
  Pinned plan;
};
void describe(config::Fields& fields, Pinned& plan);
void describe(config::Fields& fields, Options& options);

/// Problem, plan and everything derived from them, fixed at construction.
class SpmmDynamic : public Workload {
 public:
  /// Patterns of the seeds `seed`, `seed` + 1, ... Throws UserError if a pattern is infeasible or
  /// exceeds the maximum number of nonzeros, or if no plan fits.
  SpmmDynamic(const Options& options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] nlohmann::ordered_json run_facts(std::uint32_t run) const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override {
    return check_run(tensors, request, 0);
  }
  [[nodiscard]] CheckResult check_run(const TensorReader& tensors, const CheckRequest& request,
                                      std::uint32_t run) const override;

  [[nodiscard]] const Plan& chosen() const { return plan_; }

 private:
  /// Plans with the form of products that has the lower prediction. Returns the prediction for all
  /// runs with the given patterns.
  Prediction choose(MachineCosts& costs);
  /// The plan in printed form, which can be pinned.
  [[nodiscard]] Pinned printed() const;
  [[nodiscard]] CheckResult check_values(std::span<const float> found, std::uint32_t run,
                                         HostThreads& threads) const;
  /// Declares the result's tensor.
  void add_results(plan::Description& description, const std::shared_ptr<const Parts>& parts,
                   BufferId results) const;
  void add_values(plan::Description& description, const std::shared_ptr<const Parts>& parts,
                  BufferId results) const;
  void add_given(plan::Description& description) const;
  [[nodiscard]] std::string result_name(std::uint32_t run) const;
  /// The tensor's name in a run, with the run's number if there are several: "Y.1".
  [[nodiscard]] std::string name_of(const std::string& tensor, std::uint32_t run) const;

  Options options_;
  std::uint32_t tiles_;
  std::vector<sparse::BlockMatrix> patterns_;  ///< W, in pass grad_input W^T
  data::DenseOperand x_;                       ///< the multiplied operand: X; in pass grad_input Yg
  data::DenseOperand yg_;                      ///< pass grad_values
  Problem problem_;
  Plan plan_;
  std::vector<Packing> packings_;  ///< by run
};

}  // namespace tessera::spmm_dynamic
