#include "kernels/gemm/vector_gemm.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tessera::gemm {
namespace {

VectorProduct product_of(const Options& options, const VectorPlan& plan) {
  const Product& p = options.product;
  const VectorType& type = *vector_type(options.dtype);
  const std::uint32_t largest = largest_for(type, p.k, options.shift);
  return {p,
          VectorGrid(p, type, plan),
          options.shift,
          {type, p.k, largest, options.seed, 0},
          VectorOperand(type, p.n, largest, options.seed, 1)};
}

}  // namespace

VectorGemm::VectorGemm(const Options& options, MachineCosts& costs)
    : machine_(costs.machine()),
      chosen_(vector_plan(options.vectors.value_or(VectorPlan{}), options.product,
                          *vector_type(options.dtype), costs)),
      product_(product_of(options, chosen_.plan)) {
  const Product& p = options.product;
  const VectorType& type = *product_.grid.type;
  WorkloadSummary summary;
  summary.problem = problem_text(type, p);
  summary.peak_type = type.name;
  summary.plan = printed(chosen_.plan, machine_, false);
  summary.prediction = chosen_.prediction;
  summary.facts["binds"] = chosen_.binds;
  (type.is_float() ? summary.useful_flops : summary.useful_integer_operations) =
      std::uint64_t{2} * p.m * p.n * p.k;
  summarise(std::move(summary));
}

program::Program VectorGemm::lowered() const { return make_program(product_, machine_); }

CheckResult VectorGemm::check(const TensorReader& tensors, const CheckRequest& request) const {
  return check_vectors(
      product_, [this](std::uint32_t row, std::span<float> into) { product_.b->read(row, into); },
      tensors, request);
}

std::unique_ptr<Workload> make_gemm(const Options& options, MachineCosts& costs) {
  if (vector_type_on(costs.machine(), options.dtype) != nullptr)
    return std::make_unique<VectorGemm>(options, costs);
  return std::make_unique<Gemm>(options, costs);
}

}  // namespace tessera::gemm
