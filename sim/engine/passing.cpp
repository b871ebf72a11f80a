#include "sim/engine/passing.h"

#include "sim/engine/block.h"

namespace tessera::engine {
namespace {

/// Sets up a context that enters with `signature` at time 0.
void enter(const Signature* signature, Scoreboard& board, UnitTimes& units) {
  if (signature == nullptr) return;
  for (const Signature::Residual& residual : signature->residuals) {
    if (residual.number < Scoreboard::kRegisters)
      board.expect(residual.number, residual.slots, residual.cause);
    else
      units[residual.number - Scoreboard::kRegisters] = residual.slots;
  }
}

Cause cause_of(std::size_t unit) {
  return static_cast<Unit>(unit) == Unit::matrix ? Cause::matrix : Cause::arithmetic;
}

std::vector<Signature::Residual> leave(const Scoreboard& board, const UnitTimes& units) {
  std::vector<Signature::Residual> residuals;
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

const Passing& Passings::find(const Edge& edge, const Signature* from) {
  const std::scoped_lock lock(mutex_);
  for (const Passing* known = edge.passings.load(std::memory_order_relaxed); known != nullptr;
       known = known->next) {
    if (known->from == from) return *known;
  }
  return compute(edge, from);
}

void Passings::pass(const Edge& edge, Scoreboard& board, UnitTimes& units,
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

std::uint64_t Passings::replay(const Edge& edge, const Signature* from, const Visit& visit) const {
  Scoreboard board(distance_);
  UnitTimes units{};
  enter(from, board, units);
  pass(edge, board, units, visit);
  return board.next() - board.slot();
}

const Passing& Passings::compute(const Edge& edge, const Signature* from) {
  Scoreboard board(distance_);
  UnitTimes units{};
  enter(from, board, units);
  auto& made = passings_.emplace_back(std::make_unique<Passing>());
  Passing& passing = *made;
  pass(edge, board, units, [&](std::span<const Demand> group, const Scoreboard::Ready& ready) {
    if (group.front().paired) ++passing.apart;
    passing.waits[static_cast<std::size_t>(ready.cause)] +=
        static_cast<std::uint32_t>(ready.waited);
    passing.last_issue = static_cast<std::int64_t>(ready.at);
  });
  passing.waits[static_cast<std::size_t>(Cause::branch)] +=
      static_cast<std::uint32_t>(board.next() - board.slot());
  passing.from = from;
  passing.to = intern(leave(board, units));
  passing.slots = static_cast<std::int64_t>(board.next());
  passing.next = edge.passings.load(std::memory_order_relaxed);
  edge.passings.store(&passing, std::memory_order_release);
  return passing;
}

const Signature* Passings::after(const Signature* from, std::uint64_t slots) {
  if (from == nullptr || slots == 0) return from;
  std::vector<Signature::Residual> residuals;
  for (Signature::Residual residual : from->residuals) {
    if (residual.slots <= slots) continue;
    residual.slots -= static_cast<std::uint32_t>(slots);
    residuals.push_back(residual);
  }
  const std::scoped_lock lock(mutex_);
  return intern(std::move(residuals));
}

const Signature* Passings::intern(std::vector<Signature::Residual> residuals) {
  if (residuals.empty()) return nullptr;
  auto& known = signatures_[residuals];
  if (!known) known = std::make_unique<Signature>(Signature{std::move(residuals)});
  return known.get();
}

}  // namespace tessera::engine
