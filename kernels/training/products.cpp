#include "kernels/training/products.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"

namespace tessera::training {

void describe(config::Fields& fields, DenseKeys& keys) {
  fields.optional_group({"forward", "the product for a layer's outputs"}, keys.forward);
  fields.optional_group({"weight_gradient", "the product for its weights' gradient"},
                        keys.weight_gradient);
  fields.optional_group({"input_gradient", "the product for its inputs' gradient"},
                        keys.input_gradient);
}

void describe_padding(config::Fields& fields, std::uint32_t& padding) {
  static constexpr std::uint64_t kPaddings[] = {0, 4, 8, 16, 32, 64, 128};
  fields.field(
      {"padding", "matrices are padded to multiples of this many rows and columns; 0: searched"},
      padding, config::one_of(kPaddings));
}

/// Candidates are the larger block sides of all forms summed in f32, the largest first.
std::vector<std::uint32_t> paddings(const MachineConfig& machine, std::uint32_t pinned,
                                    bool pinned_products, program::Type type) {
  std::set<std::uint32_t, std::greater<>> all;
  for (const kernels::BlockShape& block :
       kernels::block_shapes(machine.tile.matrix_unit, type, program::Type::f32))
    all.insert(std::max(block.depth, block.columns));
  if (pinned == 0) return {all.begin(), pinned_products ? std::next(all.begin()) : all.end()};
  if (!all.contains(pinned))
    throw KeyError("workload.plan.padding", "found {}, allowed {}", pinned, fmt::join(all, ", "));
  return {pinned};
}

DenseKeys keys_of(const DensePlan& plan) {
  const auto of = [](const std::optional<PlannedProduct>& product) {
    return product ? std::optional(product->candidate.plan) : std::nullopt;
  };
  return {plan.forward.candidate.plan, of(plan.weight_gradient), of(plan.input_gradient)};
}

/// Rewords errors: the user wrote layers, not the m, n and k of gemm's planner.
gemm::Candidate ProductPlanner::candidate(const gemm::Problem& problem, const Use& use) const {
  if (!use.pinned) return gemm::find_plan(problem, costs_);
  try {
    return gemm::pinned_plan(*use.pinned, problem, costs_);
  } catch (const KeyError& error) {
    throw KeyError("workload.plan.products", "{}: {}", use.what, error.what());
  }
}

PlannedLayer ProductPlanner::plan(const DenseLayer& of) {
  std::string misfit;
  const auto forward =
      product(of.samples, of.inputs, of.outputs,
              {of.key, "the product that makes its outputs", of.pinned.forward}, misfit);
  std::optional<PlannedProduct> weight_gradient, input_gradient;
  if (of.trains)
    weight_gradient = product(
        of.inputs, of.samples, of.outputs,
        {of.key, "the product for its weights' gradient", of.pinned.weight_gradient}, misfit);
  if (of.trains && !of.first)
    input_gradient =
        product(of.samples, of.outputs, of.inputs,
                {of.key, "the product for its inputs' gradient", of.pinned.input_gradient}, misfit);
  if (!misfit.empty()) return {{}, misfit};
  return {DensePlan{padding_, *forward, std::move(weight_gradient), std::move(input_gradient)}};
}

std::optional<PlannedProduct> ProductPlanner::product(std::uint32_t m, std::uint32_t k,
                                                      std::uint32_t n, const Use& use,
                                                      std::string& misfit) {
  if (!misfit.empty()) return std::nullopt;
  const gemm::Product size{round_up(m, padding_), round_up(n, padding_), round_up(k, padding_)};
  for (const PlannedProduct& known : known_)
    if (!use.pinned && known.size.m == size.m && known.size.n == size.n && known.size.k == size.k)
      return known;
  const gemm::Problem problem{size,
                              type_,
                              false,
                              program::Type::f32,
                              kernels::Layout::natural,
                              costs_.machine().tile.matrix_unit,
                              reserved_,
                              padding_};
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
                           std::uint32_t padding, program::Type type) {
  return gemm::stored_bytes(std::uint64_t{round_up(rows, padding)} * round_up(columns, padding) *
                                data::element_bytes(type),
                            machine.tiles);
}

}  // namespace tessera::training
