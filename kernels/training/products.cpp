#include "kernels/training/products.h"

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::training {

namespace {

/// The user wrote layers, not the m, n and k that the planner of gemm names.
gemm::Candidate candidate_for(const gemm::Problem& problem, MachineCosts& costs,
                              const ProductUse& use) {
  const gemm::Product& size = problem.product;
  try {
    return gemm::choose_plan(problem, costs);
  } catch (const KeyError&) {
    throw;
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}, {} x {} times {} x {} with padding: {}", use.key, use.what,
                                size.m, size.k, size.k, size.n, error.what()));
  }
}

}  // namespace

PlannedProduct ProductPlanner::plan(std::uint32_t m, std::uint32_t k, std::uint32_t n,
                                    const ProductUse& use) {
  const std::uint32_t grain = padding(costs_.machine(), type_);
  const gemm::Product size{round_up(m, grain), round_up(n, grain), round_up(k, grain)};
  for (const PlannedProduct& known : known_)
    if (known.size.m == size.m && known.size.n == size.n && known.size.k == size.k) return known;
  const gemm::Problem problem{size,
                              type_,
                              false,
                              program::Type::f32,
                              kernels::Layout::natural,
                              costs_.machine().tile.matrix_unit,
                              reserved_};
  const gemm::Candidate candidate = candidate_for(problem, costs_, use);
  known_.push_back({size, candidate, gemm::Geometry(problem, candidate.plan)});
  return known_.back();
}

std::uint64_t matrix_bytes(std::uint32_t rows, std::uint32_t columns, const MachineConfig& machine,
                           program::Type type) {
  const std::uint32_t grain = padding(machine, type);
  return gemm::stored_bytes(
      std::uint64_t{round_up(rows, grain)} * round_up(columns, grain) * data::element_bytes(type),
      machine.tiles);
}

}  // namespace tessera::training
