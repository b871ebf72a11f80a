#include "sim/engine/native/hyperblock.h"

#include <algorithm>

#include "sim/engine/instruction_kind.h"
#include "sim/isa/table.h"

namespace tessera::engine::native {
namespace {

using enum isa::Mnemonic;
using isa::Mnemonic;

constexpr std::size_t kMostSteps = 96;  ///< of a turn
constexpr std::size_t kLongestSide = 6;

struct Place {
  std::size_t node = 0;
  std::size_t step = 0;
  bool operator==(const Place&) const = default;
};

/// Steps that are straight, cannot fault and may be done in vain: floating-point operands are
/// masked, so that no flag accrues.
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
      return false;
  }
}

/// True if the interpreter may have to go on before the step.
bool may_leave(const Step& step) {
  return !convertible(step) || (step.sets.reads_f | step.sets.writes_f) != 0;
}

/// Where one side of a branch leads: straight steps, and jumps between them.
struct Path {
  struct Stop {
    Place place;
    std::uint32_t pc;
    std::size_t steps;
    Spent spent;  ///< on ways until there
  };
  std::vector<Step> steps;
  std::vector<Stop> stops;  ///< before each step
};

class LoopFinder {
 public:
  LoopFinder(const Region& region, bool timed) : region_(region), timed_(timed) {}

  Loops find() {
    made_.of.resize(region_.nodes.size());
    for (std::size_t i = 0; i < region_.nodes.size(); ++i) made_.of[i] = loop_at(i);
    return std::move(made_);
  }

 private:
  [[nodiscard]] const Step& at(const Place& place) const {
    return region_.nodes[place.node].steps[place.step];
  }
  [[nodiscard]] std::size_t index_of(const Step& step) const {
    return static_cast<std::size_t>(step.op - region_.nodes[step.node].first);
  }
  [[nodiscard]] const Way& way_of(const Step& step) const {
    return region_.nodes[step.node].ways[step.way];
  }
  static bool jumps(const Step& step) {
    return step.kind == Kind::fall_through || (step.kind == Kind::jump && step.instruction.rd == 0);
  }

  /// The steps from the node's first one on that lead back to it. The last step of the node that
  /// may is the one that does, so that what leaves the loop before is a way out; if there is none,
  /// others follow.
  std::optional<Hyperblock> loop_at(std::size_t head) {
    const std::size_t choices = made_.choices.size();
    std::size_t kept = choices;
    Hyperblock block;
    std::size_t length = 0;
    std::vector<bool> passed(region_.nodes.size());
    for (std::optional<Place> place = Place{head, 0}; place && block.steps.size() < kMostSteps;) {
      const Place here = *place;
      block.steps.push_back(at(here));
      place = follow(block.steps, here, head);
      const Step& step = block.steps.back();
      const bool end = place == Place{head, 0};
      if (end || (step.kind == Kind::branch && leads_to(step, head))) {
        length = block.steps.size();
        kept = made_.choices.size();
      }
      if (end || !place) break;
      if (place->node == here.node && place->step > here.step) continue;
      if (length > 0 || place->node == head || passed[place->node]) break;
      passed[place->node] = true;
    }
    block.steps.resize(length);
    const bool is_loop = length > 0 && worth(block);
    made_.choices.resize(is_loop ? kept : choices);
    if (!is_loop) return std::nullopt;
    measure(block);
    return block;
  }

  [[nodiscard]] bool leads_to(const Step& step, std::size_t node) const {
    return way_of(step).node == static_cast<int>(node);
  }

  /// Where the turn goes on after its last step, which stands at `place`, if it can. The step
  /// becomes what a hyperblock does there.
  std::optional<Place> follow(std::vector<Step>& steps, Place place, std::size_t head) {
    Step& step = steps.back();
    const Place next{place.node, place.step + 1};
    if (step.kind == Kind::straight) return next;
    if (step.kind == Kind::loop_end)
      return leads_to(step, head) ? std::optional(Place{head, 0}) : std::nullopt;
    if (step.kind == Kind::branch) {
      const std::optional<Place> after = convert(step, head);
      if (!after) return next;
      made_.choices.back().compare = compare_of(steps);
      step.kind = Kind::choose;
      step.choice = made_.choices.size() - 1;
      note_registers(step);
      return after;
    }
    if (!jumps(step) || way_of(step).node == kOutside) return std::nullopt;
    if (!leads_to(step, head)) step.kind = Kind::pass;
    return Place{static_cast<std::size_t>(way_of(step).node), 0};
  }

  /// Loops of several nodes are written again at each of them: for choices alone.
  static bool worth(const Hyperblock& block) {
    const auto has = [&](Kind kind) {
      return std::any_of(block.steps.begin(), block.steps.end(),
                         [&](const Step& step) { return step.kind == kind; });
    };
    return has(Kind::choose) || !has(Kind::pass);
  }

  void measure(Hyperblock& block) const {
    for (const Step& step : block.steps) {
      const bool last = &step == &block.steps.back();
      if (step.kind == Kind::choose) {
        const Choice& choice = made_.choices[step.choice];
        block.most_slots += choice.pass.slots + std::max<std::int64_t>(choice.more.slots, 0);
        block.inner = true;
      } else if (step.kind == Kind::pass || last) {
        const Way& way = way_of(step);
        Spent spent;
        spent.add(way);
        block.most_slots += spent.slots;
        block.inner |= !last;
      }
    }
  }

  [[nodiscard]] Path path_from(Place place) const {
    Path path;
    Spent spent;
    for (std::size_t passes = 0; passes < kLongestSide;) {
      const Step& step = at(place);
      if (step.kind != Kind::fall_through)
        path.stops.push_back({place, step.pc, path.steps.size(), spent});
      if (jumps(step) && way_of(step).node != kOutside) {
        spent.add(way_of(step));
        place = {static_cast<std::size_t>(way_of(step).node), 0};
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

  /// Makes a choice of the branch, if that may be; where the turn goes on.
  std::optional<Place> convert(const Step& branch, std::size_t head) {
    const Way& taken_way = way_of(branch);
    if (timed_ || taken_way.node == kOutside || branch.instruction.mnemonic == bdnz)
      return std::nullopt;
    std::array<Path, 2> paths = {path_from({branch.node, index_of(branch) + 1}),
                                 path_from({static_cast<std::size_t>(taken_way.node), 0})};
    for (Path::Stop& stop : paths[1].stops) stop.spent.add(taken_way);
    const auto meeting = meeting_of(paths);
    if (!meeting) return std::nullopt;
    const Path::Stop& not_taken = *meeting->at(0);
    const Path::Stop& taken = *meeting->at(1);
    const bool at_head = taken.place == Place{head, 0};
    const Place after = at_head ? taken.place : not_taken.place;
    const auto extra = difference(taken.place, not_taken.place);
    if (!extra) return std::nullopt;
    Choice choice;
    choice.more = taken.spent;
    choice.more.add(not_taken.spent, -1);
    choice.more.add(*extra);
    choice.pass = not_taken.spent;
    if (at_head) choice.pass.add(*extra, -1);
    for (std::size_t side = 0; side < 2; ++side) {
      paths[side].steps.resize(meeting->at(side)->steps);
      choice.sides[side] = std::move(paths[side].steps);
    }
    if (!rename(choice)) return std::nullopt;
    made_.choices.push_back(std::move(choice));
    return after;
  }

  /// The comparison of floating-point numbers that the last step, a branch, asks about.
  static std::optional<isa::Instruction> compare_of(const std::vector<Step>& steps) {
    const isa::Instruction& branch = steps.back().instruction;
    if (branch.rs2 != 0 || (branch.mnemonic != beq && branch.mnemonic != bne)) return std::nullopt;
    std::uint32_t written = 0;
    for (std::size_t i = steps.size() - 1; i-- > 0;) {
      const Step& step = steps[i];
      const Mnemonic m = step.instruction.mnemonic;
      if ((step.sets.writes_x >> branch.rs1 & 1) != 0) {
        const bool compares =
            step.kind == Kind::straight && (m == feq_s || m == flt_s || m == fle_s);
        if (!compares || (written & step.sets.reads_f) != 0) return std::nullopt;
        return step.instruction;
      }
      written |= step.sets.writes_f;
    }
    return std::nullopt;
  }

  using Meeting = std::array<const Path::Stop*, 2>;
  /// The first place that both come to.
  static std::optional<Meeting> meeting_of(const std::array<Path, 2>& paths) {
    std::optional<Meeting> best;
    for (const Path::Stop& first : paths[0].stops)
      for (const Path::Stop& second : paths[1].stops) {
        const bool less =
            !best || first.steps + second.steps < best->at(0)->steps + best->at(1)->steps;
        if (first.pc == second.pc && less) best = {&first, &second};
      }
    return best;
  }

  /// How much more has been executed in the block of `one` than in that of `other` at the same
  /// instructions, wherever they are left from here on; nothing if it is not always the same.
  [[nodiscard]] std::optional<Spent> difference(Place one, Place other) const {
    Spent made;
    if (one == other) return made;
    bool exit = false;
    const auto& ones = region_.nodes[one.node].steps;
    const auto& others = region_.nodes[other.node].steps;
    std::vector<Cost> before;
    for (; one.step < ones.size() && other.step < others.size(); ++one.step, ++other.step) {
      const Step& a = ones[one.step];
      const Step& b = others[other.step];
      if (a.pc != b.pc || a.kind != b.kind) break;
      if (may_leave(a))
        before.push_back({a.before.slots - b.before.slots, a.before.work - b.before.work});
      if (a.kind == Kind::straight || a.kind == Kind::leave) continue;
      Spent now;
      now.add(way_of(a));
      now.add(way_of(b), -1);
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

  /// A move within either kind of registers.
  static bool moves(const isa::Instruction& is) {
    if (is.mnemonic == addi) return is.imm == 0 && is.rs1 != 0;
    return (is.mnemonic == fsgnj_s || is.mnemonic == fsgnj_d) && is.rs1 == is.rs2;
  }

  /// Results go to shadows, moves need none. False if there are too few.
  static bool rename(Choice& choice) {
    std::array<std::uint32_t, 2> written{};  // x, f
    for (const auto& side : choice.sides)
      for (const Step& step : side) {
        written[0] |= step.sets.writes_x;
        written[1] |= step.sets.writes_f;
      }
    for (std::size_t side = 0; side < 2; ++side) {
      std::array<std::array<std::uint8_t, 32>, 2> names;
      for (auto& each : names)
        for (std::uint8_t r = 0; r < 32; ++r) each[r] = r;
      std::vector<Step> kept;
      for (Step step : choice.sides[side]) {
        isa::Instruction& is = step.instruction;
        const isa::Instruction old = is;
        for (const isa::Operand& operand : isa::info(is.mnemonic).operands) {
          const auto& name = names[operand.shape == isa::Shape::f_register ? 1 : 0];
          if (operand.field == isa::Field::rs1) is.rs1 = name[old.rs1];
          if (operand.field == isa::Field::rs2) is.rs2 = name[old.rs2];
          if (operand.field == isa::Field::rs3) is.rs3 = name[old.rs3];
        }
        const bool floating = step.sets.writes_f != 0;
        choice.masked |= floating || step.sets.reads_f != 0;
        if (!floating && old.rd == 0) continue;
        std::uint8_t& name = names[floating ? 1 : 0][old.rd];
        const bool stays = is.rs1 >= kFirstShadow || (written[floating ? 1 : 0] >> is.rs1 & 1) == 0;
        if (moves(old) && stays) {
          name = is.rs1;
          if (old.mnemonic == fsgnj_s && name < kFirstShadow) choice.boxed |= 1U << name;
        } else {
          unsigned& count = floating ? choice.shadows_f : choice.shadows_x;
          if (count == kShadows) return false;
          name = static_cast<std::uint8_t>(kFirstShadow + count++);
          is.rd = name;
          kept.push_back(step);
        }
        select(floating ? choice.f : choice.x, old.rd, side, name);
      }
      choice.sides[side] = std::move(kept);
    }
    return true;
  }

  static void select(std::vector<Choice::Select>& all, std::uint8_t rd, std::size_t side,
                     std::uint8_t from) {
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Choice::Select& each) { return each.rd == rd; });
    if (found == all.end()) found = all.insert(found, {rd, {rd, rd}});
    found->from[side] = from;
  }

  /// What the choice reads and writes, as one step.
  void note_registers(Step& step) const {
    for (const auto& side : made_.choices[step.choice].sides)
      for (const Step& each : side) {
        step.sets.reads_x |= each.sets.reads_x;
        step.sets.reads_f |= each.sets.reads_f;
        step.sets.writes_x |= each.sets.writes_x;
        step.sets.writes_f |= each.sets.writes_f;
      }
  }

  const Region& region_;
  bool timed_;
  Loops made_;
};

}  // namespace

void Spent::add(const Way& way, std::int64_t times) {
  const Edge& edge = *way.edge;
  const auto n = static_cast<std::uint64_t>(times);
  done.add(edge.done, static_cast<std::uint32_t>(times));
  work += n * edge.cost.work;
  if (way.passing == nullptr) {
    slots += times * edge.cost.slots;
    return;
  }
  slots += times * way.passing->slots;
  work -= n * pack_work(0, way.passing->apart, 0);
  for (std::size_t i = 0; i < kCauses; ++i) waits[i] += n * way.passing->waits[i];
}

void Spent::add(const Spent& other, std::int64_t times) {
  const auto n = static_cast<std::uint64_t>(times);
  slots += times * other.slots;
  work += n * other.work;
  for (std::size_t i = 0; i < kCauses; ++i) waits[i] += n * other.waits[i];
  done.add(other.done, static_cast<std::uint32_t>(times));
}

Loops find_loops(const Region& region, bool timed) { return LoopFinder(region, timed).find(); }

}  // namespace tessera::engine::native
