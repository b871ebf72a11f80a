#include "kernels/gemm/array_gemm.h"

#include "kernels/gemm/array_lists.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::gemm {
namespace {

const VectorType& type_of(const Options& options) { return *vector_type(options.dtype); }

std::uint32_t largest_of(const Options& options) {
  return largest_for(type_of(options), options.product.k, options.shift);
}

}  // namespace

ArrayGemm::ArrayGemm(const Options& options, MachineCosts& costs)
    : options_(options),
      type_(type_of(options)),
      chosen_(array_plan(options.array.value_or(ArrayPlan{}), options.product, type_, costs)),
      a_(type_, options.product.k, largest_of(options), options.seed, 0),
      b_(type_, options.product.n, largest_of(options), options.seed, 1),
      product_{options.product,
               ArrayGrid(options.product, type_, chosen_.plan),
               array_of(costs.machine(), type_),
               options.shift,
               [this](std::uint32_t row, std::span<std::byte> into) { a_.write(row, into); },
               [this](std::uint32_t row, std::span<std::byte> into) { b_.write(row, into); }} {
  const Product& p = options.product;
  WorkloadSummary summary;
  summary.problem = fmt::format("{}x{}x{} {}", p.m, p.n, p.k, type_.name);
  summary.peak_type = type_.name;
  summary.plan = config::resolved(chosen_.plan);
  summary.prediction = chosen_.prediction;
  summary.facts["binds"] = chosen_.binds;
  (type_.is_float() ? summary.useful_flops : summary.useful_integer_operations) =
      std::uint64_t{2} * p.m * p.n * p.k;
  summarise(std::move(summary));
}

program::Program ArrayGemm::lowered() const { return make_array_program(product_); }

CheckResult ArrayGemm::check(const TensorReader& tensors, const CheckRequest& request) const {
  return check_array(
      {&product_, [this](std::uint32_t row, std::span<float> into) { a_.read(row, into); },
       [this](std::uint32_t row, std::span<float> into) { b_.read(row, into); }},
      tensors, request);
}

std::unique_ptr<Workload> make_gemm(const Options& options, MachineCosts& costs) {
  if (is_of_arrays(options.dtype, costs.machine()))
    return std::make_unique<ArrayGemm>(options, costs);
  return std::make_unique<Gemm>(options, costs);
}

}  // namespace tessera::gemm
