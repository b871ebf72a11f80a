#include "sim/engine/pipeline_transition.h"

#include "sim/engine/block.h"

namespace tessera::engine {
namespace {

/// Sets up a context that enters with `pipeline_state` at time 0.
void enter(const PipelineState* pipeline_state, Scoreboard& board, UnitTimes& units) {
  if (pipeline_state == nullptr) return;
  for (const PipelineState::Residual& residual : pipeline_state->residuals) {
    if (residual.number < Scoreboard::kRegisters)
      board.expect(residual.number, residual.slots, residual.cause);
    else
      units[residual.number - Scoreboard::kRegisters] = residual.slots;
  }
}

Cause cause_of(std::size_t unit) {
  return static_cast<Unit>(unit) == Unit::matrix ? Cause::matrix : Cause::arithmetic;
}

std::vector<PipelineState::Residual> leave(const Scoreboard& board, const UnitTimes& units) {
  std::vector<PipelineState::Residual> residuals;
  const auto left = [&](std::uint64_t time) {
    return static_cast<std::uint32_t>(time - board.next());
  };
  board.visit_after(board.next(), [&](unsigned number, std::uint64_t time, Cause cause) {
    residuals.push_back({static_cast<std::uint8_t>(number), cause, left(time)});
  });
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    if (units[unit] <= board.next()) continue;
    const auto number = static_cast<std::uint8_t>(Scoreboard::kRegisters + unit);
    residuals.push_back({number, cause_of(unit), left(units[unit])});
  }
  return residuals;
}

}  // namespace

const PipelineTransition& PipelineTransitions::find(const Edge& edge, const PipelineState* from) {
  const std::scoped_lock lock(mutex_);
  for (const PipelineTransition* known = edge.transitions.load(std::memory_order_relaxed);
       known != nullptr; known = known->next) {
    if (known->from == from) return *known;
  }
  return compute(edge, from);
}

void PipelineTransitions::pass(const Edge& edge, Scoreboard& board, UnitTimes& units,
                               const Visit& visit) const {
  for (std::span<const Demand> left = edge.demands(); !left.empty();) {
    const auto pair = front_group(left);
    const Scoreboard::Ready ready = board.ready(pair.first(1), units);
    const auto group = board.together(pair, ready.at, units);
    visit(group, ready);
    board.issue(group, ready.at, units);
    left = left.subspan(group.size());
  }
  if (edge.branches) board.branch(branch_latency_);
}

std::uint64_t PipelineTransitions::replay(const Edge& edge, const PipelineState* from,
                                          const Visit& visit) const {
  Scoreboard board(distance_);
  UnitTimes units{};
  enter(from, board, units);
  pass(edge, board, units, visit);
  return board.next() - board.slot();
}

const PipelineTransition& PipelineTransitions::compute(const Edge& edge,
                                                       const PipelineState* from) {
  Scoreboard board(distance_);
  UnitTimes units{};
  enter(from, board, units);
  auto& made = transitions_.emplace_back(std::make_unique<PipelineTransition>());
  PipelineTransition& transition = *made;
  pass(edge, board, units, [&](std::span<const Demand> group, const Scoreboard::Ready& ready) {
    if (group.front().paired) ++transition.apart;
    transition.waits[static_cast<std::size_t>(ready.cause)] +=
        static_cast<std::uint32_t>(ready.waited);
    transition.last_issue = static_cast<std::int64_t>(ready.at);
  });
  transition.waits[static_cast<std::size_t>(Cause::branch)] +=
      static_cast<std::uint32_t>(board.next() - board.slot());
  transition.from = from;
  transition.to = intern(leave(board, units));
  transition.slots = static_cast<std::int64_t>(board.next());
  transition.next = edge.transitions.load(std::memory_order_relaxed);
  edge.transitions.store(&transition, std::memory_order_release);
  return transition;
}

const PipelineState* PipelineTransitions::after(const PipelineState* from, std::uint64_t slots) {
  if (from == nullptr || slots == 0) return from;
  std::vector<PipelineState::Residual> residuals;
  for (PipelineState::Residual residual : from->residuals) {
    if (residual.slots <= slots) continue;
    residual.slots -= static_cast<std::uint32_t>(slots);
    residuals.push_back(residual);
  }
  const std::scoped_lock lock(mutex_);
  return intern(std::move(residuals));
}

const PipelineState* PipelineTransitions::intern(std::vector<PipelineState::Residual> residuals) {
  if (residuals.empty()) return nullptr;
  auto& known = states_[residuals];
  if (!known) known = std::make_unique<PipelineState>(PipelineState{std::move(residuals)});
  return known.get();
}

}  // namespace tessera::engine
