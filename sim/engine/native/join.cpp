#include "sim/engine/native/join.h"

#include <algorithm>

#include "sim/engine/instruction_kind.h"
#include "sim/engine/native/analysis.h"

namespace tessera::engine::native {
namespace {

using enum isa::Mnemonic;
using isa::Mnemonic;

constexpr std::size_t kLongestSide = 12;
constexpr std::size_t kLongestSkip = 12;

/// True for straight steps that may be executed speculatively. Floating-point operands are then
/// masked so that no flag accrues. Loads may only if both sides do them.
bool convertible(const Step& step) {
  if (step.kind != Kind::straight) return false;
  const isa::Instruction& is = step.instruction;
  const Mnemonic m = is.mnemonic;
  if (m == lui || m == auipc || (addi <= m && m <= and_) || (mul <= m && m <= mulhu) ||
      (sh1add <= m && m <= sh3add))
    return true;
  switch (m) {
    case fadd_s:
    case fsub_s:
    case fmul_s:
    case fmadd_s:
    case fmsub_s:
    case fnmsub_s:
    case fnmadd_s:
      return rounds_as_host(is);
    case fsgnj_s:
    case fsgnjn_s:
    case fsgnjx_s:
    case fmin_s:
    case fmax_s:
    case feq_s:
    case flt_s:
    case fle_s:
    case fmv_x_w:
    case fmv_w_x:
      return true;
    case fsgnj_d:
      return is.rs1 == is.rs2;
    default:
      return loads(step);
  }
}

/// True for steps that a branch may skip within a turn: those emitted without a call.
bool may_be_skipped(const Step& step) {
  const Mnemonic m = step.instruction.mnemonic;
  return convertible(step) || (step.kind == Kind::straight && ((sb <= m && m <= sw) || m == fsw));
}

/// True if the interpreter may find a fault there: then the cost executed so far matters. Without a
/// fault, edges add it.
bool may_fault(const Step& step) {
  return loads(step) || (!convertible(step) && reads_single(step) == 0);
}

/// The steps of one side of a branch, across jumps.
struct Path {
  struct Stop {
    Place place;
    std::uint32_t pc;
    std::size_t steps;
    PathCost spent;  ///< cost of the exits up to there
  };
  std::vector<Step> steps;
  std::vector<Stop> stops;  ///< before each step
};

class JoinFinder {
 public:
  explicit JoinFinder(const Region& region) : region_(region) {}

  /// Joins at the first place that both sides reach, else at branches on the same condition that
  /// end both.
  [[nodiscard]] std::optional<Join> find(const Step& branch) const {
    const Exit& exit = region_.exit_of(branch);
    if (exit.node == kOutside || branch.instruction.mnemonic == bdnz) return std::nullopt;
    const Place here = region_.place_of(branch);
    std::array<Path, 2> paths = {path_from({here.node, here.step + 1}),
                                 path_from({static_cast<std::size_t>(exit.node), 0})};
    if (paths[0].stops.empty() || paths[1].stops.empty()) return std::nullopt;
    std::array<const Path::Stop*, 2> best{};
    for (const Path::Stop& first : paths[0].stops)
      for (const Path::Stop& second : paths[1].stops) {
        const bool less =
            best[0] == nullptr || first.steps + second.steps < best[0]->steps + best[1]->steps;
        if (first.pc == second.pc && less) best = {&first, &second};
      }
    const bool met = best[0] != nullptr;
    if (!met) best = {&paths[0].stops.back(), &paths[1].stops.back()};
    const Place one = best[1]->place;
    const Place other = best[0]->place;
    Join join;
    if (met) {
      const std::optional<PathCost> extra = difference(one, other);
      if (!extra) return std::nullopt;
      join.extra = *extra;
    } else if (!compare_branches(one, other, join)) {
      return std::nullopt;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      paths[side].steps.resize(best[side]->steps);
      join.sides[side] = {std::move(paths[side].steps), best[side]->place, best[side]->spent};
    }
    join.sides[1].spent.add(exit);
    return join;
  }

  /// The join of a branch with the steps that it jumps over.
  [[nodiscard]] std::optional<Join> find_skip(const Step& branch) const {
    const Exit& exit = region_.exit_of(branch);
    if (exit.node == kOutside || branch.instruction.mnemonic == bdnz) return std::nullopt;
    Join join;
    auto& [over, taken] = join.sides;
    taken.place = {static_cast<std::size_t>(exit.node), 0};
    taken.spent.add(exit);
    const std::uint32_t pc = region_.at(taken.place).pc;
    over.place = region_.place_of(branch);
    ++over.place.step;
    while (true) {
      const Step& step = region_.at(over.place);
      const std::optional<Place> to = region_.jump_of(step);
      if (to) {
        over.spent.add(region_.exit_of(step));
        over.place = *to;
      }
      if (region_.at(over.place).pc == pc) break;
      if (to || !may_be_skipped(step) || over.steps.size() == kLongestSkip) return std::nullopt;
      over.steps.push_back(step);
      ++over.place.step;
    }
    const std::optional<PathCost> extra = difference(taken.place, over.place);
    if (!extra) return std::nullopt;
    join.extra = *extra;
    return join;
  }

 private:
  [[nodiscard]] Path path_from(Place place) const {
    Path path;
    PathCost spent;
    for (std::size_t passes = 0; passes < kLongestSide;) {
      const Step& step = region_.at(place);
      if (step.kind != Kind::fall_through)
        path.stops.push_back({place, step.pc, path.steps.size(), spent});
      if (const std::optional<Place> to = region_.jump_of(step)) {
        spent.add(region_.exit_of(step));
        place = *to;
        ++passes;
      } else if (convertible(step) && path.steps.size() < kLongestSide) {
        path.steps.push_back(step);
        ++place.step;
      } else {
        break;
      }
    }
    return path;
  }

  /// Place and cost of one outcome of a branch.
  struct Outcome {
    Place place;
    PathCost spent;
  };
  [[nodiscard]] std::array<Outcome, 2> outcomes_of(const Step& branch) const {
    std::array<Outcome, 2> made;
    made[0].place = region_.place_of(branch);
    ++made[0].place.step;
    made[1].place = {static_cast<std::size_t>(region_.exit_of(branch).node), 0};
    made[1].spent.add(region_.exit_of(branch));
    for (Outcome& each : made)
      for (std::size_t i = 0; i < kLongestSide; ++i) {
        const Step& step = region_.at(each.place);
        const std::optional<Place> to = region_.jump_of(step);
        if (!to) break;
        each.spent.add(region_.exit_of(step));
        each.place = *to;
      }
    return made;
  }

  /// Finds difference() for each outcome of two branches on the same condition, or its opposite,
  /// that lead to the same two places. False if they do not.
  [[nodiscard]] bool compare_branches(Place one, Place other, Join& join) const {
    const Step& a = region_.at(one);
    const Step& b = region_.at(other);
    const auto may = [&](const Step& step) {
      return step.kind == Kind::branch && step.instruction.mnemonic != bdnz &&
             region_.exit_of(step).node != kOutside;
    };
    if (!may(a) || !may(b) || a.instruction.rs1 != b.instruction.rs1 ||
        a.instruction.rs2 != b.instruction.rs2)
      return false;
    const bool same = a.instruction.mnemonic == b.instruction.mnemonic;
    if (!same && a.instruction.mnemonic != opposite(b.instruction.mnemonic)) return false;
    const std::array<Outcome, 2> exits = outcomes_of(a);
    const std::array<Outcome, 2> others = outcomes_of(b);
    std::array<PathCost, 2> extra;  // if the other is not taken, and taken
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t exit = same ? i : 1 - i;
      if (region_.at(exits[i].place).pc != region_.at(others[exit].place).pc) return false;
      const std::optional<PathCost> now = difference(exits[i].place, others[exit].place);
      if (!now) return false;
      extra[exit] = *now;
      extra[exit].add(exits[i].spent);
      extra[exit].add(others[exit].spent, -1);
    }
    join.extra = extra[0];
    if (extra[1].is(extra[0])) return true;
    join.both = extra[1];
    join.both->add(extra[0], -1);
    return true;
  }

  static Mnemonic opposite(Mnemonic branch) {
    switch (branch) {
      case beq:
        return bne;
      case bne:
        return beq;
      case blt:
        return bge;
      case bge:
        return blt;
      case bltu:
        return bgeu;
      default:
        return bltu;
    }
  }

  /// Cost executed in the block of `one` minus that in the block of `other` at the same
  /// instructions, from here to any exit; nothing if it is not the same at all of them.
  [[nodiscard]] std::optional<PathCost> difference(Place one, Place other) const {
    PathCost made;
    if (one == other) return made;
    bool exit = false;
    const auto& ones = region_.nodes[one.node].steps;
    const auto& others = region_.nodes[other.node].steps;
    std::vector<Cost> before;
    for (; one.step < ones.size() && other.step < others.size(); ++one.step, ++other.step) {
      const Step& a = ones[one.step];
      const Step& b = others[other.step];
      if (a.pc != b.pc || a.kind != b.kind) break;
      if (may_fault(a))
        before.push_back({a.before.slots - b.before.slots, a.before.work - b.before.work});
      if (a.kind == Kind::straight || a.kind == Kind::leave) continue;
      PathCost now;
      now.add(region_.exit_of(a));
      now.add(region_.exit_of(b), -1);
      if (exit && (now.slots != made.slots || now.work != made.work)) return std::nullopt;
      if (!exit) made = now;
      exit = true;
    }
    const Cost all{made.slots, made.work};
    const bool same =
        std::all_of(before.begin(), before.end(), [&](const Cost& each) { return each == all; });
    if (!exit || !same) return std::nullopt;
    return made;
  }

  const Region& region_;
};

}  // namespace

bool loads(const Step& step) {
  const Mnemonic m = step.instruction.mnemonic;
  return step.kind == Kind::straight && ((lb <= m && m <= lhu) || m == flw);
}

void PathCost::add(const Exit& exit, std::int64_t times) {
  const Edge& edge = *exit.edge;
  const auto n = static_cast<std::uint64_t>(times);
  done.add(edge.done, static_cast<std::uint32_t>(times));
  work += n * edge.cost.work;
  if (exit.transition == nullptr) {
    slots += times * edge.cost.slots;
    return;
  }
  slots += times * exit.transition->slots;
  work -= n * pack_work(0, exit.transition->apart, 0);
  for (std::size_t i = 0; i < kCauses; ++i) waits[i] += n * exit.transition->waits[i];
}

void PathCost::add(const PathCost& other, std::int64_t times) {
  const auto n = static_cast<std::uint64_t>(times);
  slots += times * other.slots;
  work += n * other.work;
  for (std::size_t i = 0; i < kCauses; ++i) waits[i] += n * other.waits[i];
  done.add(other.done, static_cast<std::uint32_t>(times));
}

bool PathCost::is(const PathCost& other) const {
  for (std::size_t i = 0; i < isa::kActivities; ++i)
    if (done[i] != other.done[i]) return false;
  return slots == other.slots && work == other.work;
}

const std::optional<Join>& Joins::of(const Step& branch) {
  const auto [known, is_new] = known_.try_emplace(branch.op);
  if (is_new) known->second = JoinFinder(region_).find(branch);
  return known->second;
}

std::optional<Join> Joins::skip_of(const Step& branch) const {
  return JoinFinder(region_).find_skip(branch);
}

}  // namespace tessera::engine::native
