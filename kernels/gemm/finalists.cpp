#include "kernels/gemm/finalists.h"

#include <algorithm>
#include <optional>

#include "kernels/gemm/program.h"
#include "sim/base/errors.h"
#include "sim/program/program_cost.h"

namespace tessera::gemm {

namespace {

constexpr std::size_t kMost = 3;

/// No worse than this may a plan be by estimate.
std::uint64_t limit(std::uint64_t best) { return best + best / 4; }

}  // namespace

bool Finalists::take(std::uint64_t cycles) const {
  if (plans_.empty()) return true;
  if (cycles > limit(plans_.front().prediction.cycles)) return false;
  return plans_.size() < kMost || cycles < plans_.back().prediction.cycles;
}

void Finalists::add(const Candidate& candidate) {
  const auto after = std::upper_bound(plans_.begin(), plans_.end(), candidate,
                                      [](const Candidate& a, const Candidate& b) {
                                        return a.prediction.cycles < b.prediction.cycles;
                                      });
  plans_.insert(after, candidate);
  if (plans_.size() > kMost) plans_.pop_back();
}

Candidate Finalists::best(const Problem& problem, const MachineCosts& costs) const {
  std::optional<Candidate> best;
  for (const Candidate& plan : plans_) {
    if (best && plan.prediction.cycles >= best->prediction.cycles) break;  // estimates are bounds
    try {
      const Candidate exact = compiled(plan, problem, costs);
      if (!best || exact.prediction.cycles < best->prediction.cycles) best = exact;
    } catch (const UserError&) {
      continue;  // estimates of memory leave out how a schedule cuts its streams
    }
  }
  return best.value_or(plans_.front());
}

Candidate compiled(const Candidate& candidate, const Problem& problem, const MachineCosts& costs) {
  const MachineConfig& machine = costs.machine();
  if (problem.layout == Layout::natural || machine.tiles > kMostTilesScheduled) return candidate;
  const Product& p = problem.product;
  const data::DenseOperand a(p.m, p.k, problem.dtype, 0, 0);  // nothing reads them
  const data::DenseOperand b(p.k, p.n, problem.dtype, 0, 0);
  const Geometry geometry(problem, candidate.plan);
  const program::Needs needs = costs.needs(build_program(geometry, machine, a, b));
  Candidate exact = candidate;
  exact.tile_bytes = needs.memory.max_bytes;
  exact.prediction = scheduled(candidate.prediction, needs, costs);
  return exact;
}

}  // namespace tessera::gemm
