#include "kernels/training/products.h"

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::training {

void describe(config::Fields& fields, DenseKeys& keys) {
  fields.optional_group({"forward", "the product that makes a layer's outputs"}, keys.forward);
  fields.optional_group({"weight_gradient", "the product that makes its weights' gradient"},
                        keys.weight_gradient);
  fields.optional_group({"input_gradient", "the product that makes its inputs' gradient"},
                        keys.input_gradient);
}

DenseKeys keys_of(const DensePlan& plan) {
  const auto of = [](const std::optional<PlannedProduct>& product) {
    return product ? std::optional(product->candidate.plan) : std::nullopt;
  };
  return {plan.forward.candidate.plan, of(plan.weight_gradient), of(plan.input_gradient)};
}

/// The user wrote layers, not the m, n and k that the planner of gemm names.
gemm::Candidate ProductPlanner::candidate(const gemm::Problem& problem, const Use& use) const {
  if (!use.pinned) return gemm::find_plan(problem, costs_);
  try {
    return gemm::pinned_plan(*use.pinned, problem, costs_);
  } catch (const KeyError& error) {
    throw KeyError("workload.plan.products", fmt::format("{}: {}", use.what, error.what()));
  }
}

PlannedLayer ProductPlanner::plan(const DenseLayer& of) {
  std::string misfit;
  const auto forward =
      product(of.samples, of.inputs, of.outputs,
              {of.key, "the product that makes its outputs", of.pinned.forward}, misfit);
  std::optional<PlannedProduct> weight_gradient, input_gradient;
  if (of.trains)
    weight_gradient =
        product(of.inputs, of.samples, of.outputs,
                {of.key, "the product that makes its weights' gradient", of.pinned.weight_gradient},
                misfit);
  if (of.trains && !of.first)
    input_gradient = product(
        of.samples, of.outputs, of.inputs,
        {of.key, "the product that makes its inputs' gradient", of.pinned.input_gradient}, misfit);
  if (!misfit.empty()) return {{}, misfit};
  return {DensePlan{*forward, std::move(weight_gradient), std::move(input_gradient)}};
}

std::optional<PlannedProduct> ProductPlanner::product(std::uint32_t m, std::uint32_t k,
                                                      std::uint32_t n, const Use& use,
                                                      std::string& misfit) {
  if (!misfit.empty()) return std::nullopt;
  const std::uint32_t grain = padding(costs_.machine(), type_);
  const gemm::Product size{round_up(m, grain), round_up(n, grain), round_up(k, grain)};
  for (const PlannedProduct& known : known_)
    if (!use.pinned && known.size.m == size.m && known.size.n == size.n && known.size.k == size.k)
      return known;
  const gemm::Problem problem{size,
                              type_,
                              false,
                              program::Type::f32,
                              kernels::Layout::natural,
                              costs_.machine().tile.matrix_unit,
                              reserved_};
  const gemm::Candidate found = candidate(problem, use);
  if (!found.misfit.empty()) {
    misfit = fmt::format("{}: {}, {} x {} times {} x {} with padding: {}", use.key, use.what,
                         size.m, size.k, size.k, size.n, found.misfit);
    return std::nullopt;
  }
  PlannedProduct made{size, found, gemm::Geometry(problem, found.plan)};
  if (!use.pinned) known_.push_back(made);
  return made;
}

std::uint64_t matrix_bytes(std::uint32_t rows, std::uint32_t columns, const MachineConfig& machine,
                           program::Type type) {
  const std::uint32_t grain = padding(machine, type);
  return gemm::stored_bytes(
      std::uint64_t{round_up(rows, grain)} * round_up(columns, grain) * data::element_bytes(type),
      machine.tiles);
}

}  // namespace tessera::training
