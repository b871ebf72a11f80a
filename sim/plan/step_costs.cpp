#include "sim/plan/step_costs.h"

#include <algorithm>
#include <span>

namespace tessera {
namespace {

/// The control code of `supersteps` supersteps, each an exchange or empty.
TileCost control_cost(MachineCosts& costs, std::uint32_t supersteps, bool exchanges) {
  constexpr std::uint32_t kBytes = 4;
  program::Program sample(1);
  const program::BufferId words =
      sample.add_buffer({TileId{0}, std::uint64_t{2} * kBytes, 4, true, {}, {}, "words"});
  for (std::uint32_t i = 0; i < supersteps; ++i) {
    if (exchanges)
      sample.main().steps.push_back(
          {program::Exchange{"exchange", {{{words}, kBytes, {{words, kBytes}}}}}});
    else
      sample.main().steps.push_back({program::ComputeSet{"nothing", {}}});
  }
  return costs.tile(sample);
}

std::uint64_t control_cycles(MachineCosts& costs, std::uint32_t supersteps, bool exchanges) {
  return control_cost(costs, supersteps, exchanges).compute_cycles;
}

/// Cycles of a loop that ends at its first test, which is one superstep.
std::uint64_t loop_cycles(MachineCosts& costs) {
  program::Program sample(1);
  program::Buffer decision{TileId{0}, 4, 4, false, {}, {}, "decision"};
  decision.contents = [](std::span<std::byte> into) {
    std::fill(into.begin(), into.end(), std::byte{});
  };
  const program::BufferId word = sample.add_buffer(std::move(decision));
  program::Sequence test{{{program::ComputeSet{"nothing", {}}}}};
  sample.main().steps.push_back({program::While{"loop", std::move(test), {}, {{word}}}});
  return costs.tile(sample).compute_cycles;
}

}  // namespace

StepCosts::StepCosts(MachineCosts& costs)
    : costs_(costs),
      superstep_(control_cycles(costs, 1, false)),
      branch_(loop_cycles(costs) - superstep_),
      exchange_(control_cycles(costs, 1, true) - superstep_),
      ahead_(control_cycles(costs, 2, true) - 2 * (superstep_ + exchange_)),
      set_up_(control_cost(costs, 1, false).set_up_cycles),
      set_up_list_(control_cost(costs, 1, true).set_up_cycles - set_up_) {}

std::uint64_t StepCosts::vertex(
    const std::function<program::Vertex(program::Program&)>& make) const {
  return vertices([&](program::Program& sample) { return std::vector{make(sample)}; });
}

std::uint64_t StepCosts::vertices(
    const std::function<std::vector<program::Vertex>(program::Program&)>& make) const {
  program::Program sample(1);
  program::ComputeSet set{"sample", make(sample)};
  sample.main().steps.push_back({std::move(set)});
  return costs_.tile(sample).compute_cycles - superstep_;
}

void StepCosts::add(Prediction& sum, const Superstep& step, std::uint64_t times,
                    bool begins) const {
  const std::uint64_t moving = step.moving(costs_);
  const std::uint64_t before = step.exchange && begins ? ahead_ : 0;
  const std::uint64_t compute =
      superstep_ + step.vertex_cycles + (step.exchange ? ahead_ + exchange_ : std::uint64_t{0});
  sum.compute_cycles += times * compute - before;
  sum.exchange_cycles += times * moving;
  sum.sync_cycles += times * costs_.barrier();
  sum.cycles += times * (compute + moving + costs_.barrier()) - before;
}

void StepCosts::add_end(Prediction& sum) const {
  sum.sync_cycles += costs_.barrier();
  sum.cycles += costs_.barrier();
}

void StepCosts::add_behind_wait(Prediction& sum, std::uint64_t vertex_cycles,
                                std::uint64_t times) const {
  sum.compute_cycles += times * vertex_cycles;
  sum.cycles += times * vertex_cycles;
}

void StepCosts::add_branch(Prediction& sum, std::uint64_t times) const {
  sum.compute_cycles += times * branch_;
  sum.cycles += times * branch_;
}

}  // namespace tessera
