#include <algorithm>
#include <utility>

#include "sim/engine/native/hyperblock.h"
#include "sim/isa/table.h"

namespace tessera::engine::native {
namespace {

using enum isa::Mnemonic;
using isa::Mnemonic;

class ChoiceMaker {
 public:
  explicit ChoiceMaker(Joins& joins) : joins_(joins) {}

  /// `before`: number of choices before it that depend on this one.
  std::optional<Chosen> make(std::span<const Step> steps, const Place& head,
                             unsigned before = 0) const {
    std::optional<Join> join = joins_.of(steps.back());
    if (!join) return std::nullopt;
    auto& [not_taken, taken] = join->sides;
    const bool at_head = taken.place == head;
    Choice choice;
    note_compare(steps, choice);
    note_costs(*join, at_head, choice);
    choice.both = join->both;
    if (choice.both && !can_link(not_taken.place, at_head, head, before)) return std::nullopt;
    choice.sides = {std::move(not_taken.steps), std::move(taken.steps)};
    if (!share_loads(choice) || !rename(choice) || (head == kNowhere && !is_small(choice)) ||
        !order(choice, false) || !order(choice, true))
      return std::nullopt;
    return Chosen{std::move(choice), at_head ? taken.place : not_taken.place};
  }

  /// Keeps a branch that jumps over steps with side effects.
  [[nodiscard]] std::optional<Chosen> make_skip(const Step& branch, const Place& head) const {
    std::optional<Join> join;
    if (head != kNowhere) join = joins_.skip_of(branch);
    if (!join) return std::nullopt;
    auto& [over, taken] = join->sides;
    const bool at_head = taken.place == head;
    Choice choice{.skips = true};
    note_costs(*join, at_head, choice);
    choice.pass.add(choice.more);
    const PathCost taking = std::exchange(choice.more, {});
    choice.more.add(taking, -1);
    choice.sides[0] = std::move(over.steps);
    return Chosen{std::move(choice), at_head ? taken.place : over.place};
  }

 private:
  static void note_costs(const Join& join, bool at_head, Choice& choice) {
    const auto& [not_taken, taken] = join.sides;
    choice.more = taken.spent;
    choice.more.add(not_taken.spent, -1);
    choice.more.add(join.extra);
    choice.pass = not_taken.spent;
    if (at_head) choice.pass.add(join.extra, -1);
  }

  static bool is_small(const Choice& choice) {
    constexpr std::size_t kMost = 2;
    return choice.loads.size() + choice.sides[0].size() + choice.sides[1].size() <= kMost;
  }

  /// True if the branch at `place` becomes a choice of the same turn that never leaves.
  [[nodiscard]] bool can_link(const Place& place, bool at_head, const Place& head,
                              unsigned before) const {
    constexpr unsigned kMostLinks = 8;  // branches may lead to each other endlessly
    const Step& next = joins_.region().at(place);
    const bool asks_float = next.instruction.rs2 == 0;
    if (at_head || place == head || asks_float || before == kMostLinks) return false;
    const std::optional<Chosen> then = make(std::span(&next, 1), head, before + 1);
    return then && then->choice.loads.empty() && !then->choice.masked;
  }

  /// Notes the floating-point comparison whose result the last step, a branch, tests.
  static void note_compare(std::span<const Step> steps, Choice& choice) {
    const isa::Instruction& branch = steps.back().instruction;
    if (branch.rs2 != 0 || (branch.mnemonic != beq && branch.mnemonic != bne)) return;
    std::uint32_t written = 0;
    for (std::size_t i = steps.size() - 1; i-- > 0;) {
      const Step& step = steps[i];
      const Mnemonic m = step.instruction.mnemonic;
      if ((step.sets.writes_x >> branch.rs1 & 1) != 0) {
        const bool compares =
            step.kind == Kind::straight && (m == feq_s || m == flt_s || m == fle_s);
        if (!compares || (written & step.sets.reads_f) != 0) return;
        constexpr std::uint8_t kNot = 4;
        choice.compared = step.op;
        choice.compare = step.instruction;
        choice.taken_where_met = branch.mnemonic == bne;
        choice.predicate = m == feq_s ? 0 : m == flt_s ? 1 : 2;
        if (!choice.taken_where_met) choice.predicate += kNot;
        return;
      }
      written |= step.sets.writes_f;
    }
  }

  /// Moves loads of both sides before them, into shadows. False if the sides load from different
  /// addresses, or there are too few shadows.
  static bool share_loads(Choice& choice) {
    std::array<std::vector<Step>, 2> all;
    for (std::size_t side = 0; side < 2; ++side) {
      std::uint32_t written = 0;
      for (const Step& step : choice.sides[side]) {
        if (loads(step)) {
          if ((written >> step.instruction.rs1 & 1) != 0) return false;
          all[side].push_back(step);
        }
        written |= step.sets.writes_x;
      }
    }
    const auto same = [](const Step& a, const Step& b) {
      return a.instruction.mnemonic == b.instruction.mnemonic &&
             a.instruction.rs1 == b.instruction.rs1 && a.instruction.imm == b.instruction.imm;
    };
    if (!std::ranges::equal(all[0], all[1], same)) return false;
    for (Step step : all[0]) {
      const bool floating = step.sets.writes_f != 0;
      unsigned& count = floating ? choice.shadows_f : choice.shadows_x;
      if (count == (floating ? kShadowsF : kShadows)) return false;
      step.instruction.rd = static_cast<std::uint8_t>(kFirstShadow + count++);
      choice.loads.push_back(step);
    }
    return true;
  }

  /// True for moves between x registers or between f registers.
  static bool moves(const isa::Instruction& is) {
    if (is.mnemonic == addi) return is.imm == 0 && is.rs1 != 0;
    return (is.mnemonic == fsgnj_s || is.mnemonic == fsgnj_d) && is.rs1 == is.rs2;
  }

  /// By kind (x, f) and register: the register that holds its value now.
  using Names = std::array<std::array<std::uint8_t, 32>, 2>;

  static void rename_operands(isa::Instruction& is, const Names& names) {
    const isa::Instruction old = is;
    for (const isa::Operand& operand : isa::info(is.mnemonic).operands) {
      const auto& name = names[operand.shape == isa::Shape::f_register ? 1 : 0];
      if (operand.field == isa::Field::rs1) is.rs1 = name[old.rs1];
      if (operand.field == isa::Field::rs2) is.rs2 = name[old.rs2];
      if (operand.field == isa::Field::rs3) is.rs3 = name[old.rs3];
    }
  }

  /// Renames results to shadows; moves need none. False if there are too few.
  static bool rename(Choice& choice) {
    for (const auto& side : choice.sides)
      for (const Step& step : side) {
        choice.reads_x |= step.sets.reads_x;
        choice.reads_f |= step.sets.reads_f;
      }
    for (std::size_t side = 0; side < 2; ++side) {
      Names names;
      for (auto& each : names)
        for (std::uint8_t r = 0; r < 32; ++r) each[r] = r;
      std::vector<Step> kept;
      auto load = choice.loads.begin();
      for (Step step : choice.sides[side]) {
        const isa::Instruction old = step.instruction;
        isa::Instruction& is = step.instruction;
        rename_operands(is, names);
        const bool floating = step.sets.writes_f != 0;
        choice.masked |= floating || step.sets.reads_f != 0;
        const std::uint8_t loaded = loads(step) ? load++->instruction.rd : std::uint8_t{0};
        if (!floating && old.rd == 0) continue;
        std::uint8_t& name = names[floating ? 1 : 0][old.rd];
        if (loaded != 0) {
          name = loaded;
        } else if (moves(old)) {
          name = is.rs1;
          if (old.mnemonic == fsgnj_s && name < kFirstShadow) choice.boxed |= 1U << name;
          choice.move[floating ? 1 : 0] = step;
        } else {
          const std::optional<std::uint8_t> shadow = new_shadow(choice, floating);
          if (!shadow) return false;
          name = is.rd = *shadow;
          kept.push_back(step);
        }
        select(floating ? choice.f : choice.x, old.rd, side, name);
      }
      choice.sides[side] = std::move(kept);
    }
    return true;
  }

  /// Takes the next shadow; returns nothing if there is none left.
  static std::optional<std::uint8_t> new_shadow(Choice& choice, bool floating) {
    unsigned& count = floating ? choice.shadows_f : choice.shadows_x;
    if (count == (floating ? kShadowsF : kShadows)) return std::nullopt;
    return static_cast<std::uint8_t>(kFirstShadow + count++);
  }

  /// Orders selections so that none reads a register that an earlier one writes. Cycles are broken
  /// by moves to shadows; false if there are too few.
  static bool order(Choice& choice, bool floating) {
    std::vector<Choice::Select>& all = floating ? choice.f : choice.x;
    for (auto next = all.begin(); next != all.end(); ++next) {
      const auto is_read = [&](const Choice::Select& select) {
        return std::any_of(next, all.end(), [&](const Choice::Select& other) {
          return other.rd != select.rd &&
                 std::ranges::find(other.from, select.rd) != other.from.end();
        });
      };
      const auto free = std::find_if_not(next, all.end(), is_read);
      if (free != all.end()) {
        std::iter_swap(next, free);
        continue;
      }
      for (std::size_t side = 0; side < 2; ++side)
        if (!move_away(choice, floating, side, next->rd, {next, all.end()})) return false;
    }
    return true;
  }

  /// If a side's selections read register r, moves it to a shadow on that side.
  static bool move_away(Choice& choice, bool floating, std::size_t side, std::uint8_t r,
                        std::span<Choice::Select> selects) {
    const auto reads = [&](const Choice::Select& each) {
      return each.rd != r && each.from[side] == r;
    };
    if (std::ranges::none_of(selects, reads)) return true;
    const std::optional<std::uint8_t> shadow = new_shadow(choice, floating);
    if (!shadow) return false;
    Step move = *choice.move[floating ? 1 : 0];
    move.instruction.rd = *shadow;
    move.instruction.rs1 = r;
    if (floating) move.instruction.rs2 = r;
    choice.sides[side].push_back(move);
    for (Choice::Select& each : selects)
      if (reads(each)) each.from[side] = *shadow;
    return true;
  }

  static void select(std::vector<Choice::Select>& all, std::uint8_t rd, std::size_t side,
                     std::uint8_t from) {
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Choice::Select& each) { return each.rd == rd; });
    if (found == all.end()) found = all.insert(found, {rd, {rd, rd}});
    found->from[side] = from;
  }

  Joins& joins_;
};

}  // namespace

std::optional<Chosen> choice_of(Joins& joins, std::span<const Step> steps, const Place& head) {
  const ChoiceMaker maker(joins);
  std::optional<Chosen> made = maker.make(steps, head);
  return made ? std::move(made) : maker.make_skip(steps.back(), head);
}

}  // namespace tessera::engine::native
