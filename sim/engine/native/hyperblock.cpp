#include "sim/engine/native/hyperblock.h"

#include <algorithm>
#include <span>

namespace tessera::engine::native {
namespace {

constexpr std::size_t kMostSteps = 128;  ///< limit for one turn

class HyperblockFinder {
 public:
  HyperblockFinder(const Region& region, bool timed, std::size_t most_steps)
      : region_(region), joins_(region), timed_(timed), most_steps_(most_steps) {}

  Loops find() {
    made_.of.resize(region_.nodes.size());
    made_.kept.resize(region_.nodes.size());
    for (std::size_t i = 0; i < region_.nodes.size(); ++i) made_.of[i] = loop_at(i);
    find_others();
    return std::move(made_);
  }

 private:
  /// The steps from the node's first one that lead back to it. The last possible step closes the
  /// loop, so that earlier exits leave it; nodes that follow are added while none closes it.
  std::optional<Hyperblock> loop_at(std::size_t head) {
    const std::size_t choices = made_.choices.size();
    std::size_t kept = choices;
    Hyperblock block;
    std::size_t length = 0;
    std::vector<bool> passed(region_.nodes.size());
    const Place top{head, 0};
    for (std::optional<Place> place = top; place && block.steps.size() < kMostSteps;) {
      const Place here = *place;
      block.steps.push_back(region_.at(here));
      place = follow(block.steps, here, top);
      const Step& step = block.steps.back();
      const bool end = place == top;
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

  /// Makes stretches of the nodes still reached despite choices, and notes the nodes to keep. A
  /// stretch duplicates steps of nodes. A kept loop keeps its nodes: those beyond the room
  /// unchanged, without loops of their own.
  void find_others() {
    std::vector<std::size_t> reached{0};
    made_.kept[0] = true;
    std::size_t steps = 0;
    const auto reach = [&](std::size_t next) {
      if (!made_.kept[next]) reached.push_back(next);
      made_.kept[next] = true;
    };
    std::size_t done = 0;
    for (; done < reached.size() && steps < 2 * most_steps_; ++done) {
      const std::size_t number = reached[done];
      if (!made_.of[number] && !timed_) made_.of[number] = stretch_at(number);
      const std::optional<Hyperblock>& block = made_.of[number];
      const std::vector<Step>& own = region_.nodes[number].steps;
      steps += own.size() + (block ? block->steps.size() : 0);
      if (block)
        for (const Step& step : block->steps) {
          if (block->loop) reach(step.node);
          each_successor(region_.nodes[step.node], step, reach);
        }
      if (!block || block->loop)
        for (const Step& step : own) each_successor(region_.nodes[number], step, reach);
    }
    for (std::size_t i = done; i < reached.size(); ++i) {
      made_.kept[reached[i]] = false;
      made_.of[reached[i]].reset();
    }
    for (const std::size_t number : std::span(reached).first(done))
      if (made_.of[number] && made_.of[number]->loop)
        for (const Step& step : made_.of[number]->steps) made_.kept[step.node] = true;
  }

  /// The steps from the node's first one up to the end of straight flow, if they include choices.
  std::optional<Hyperblock> stretch_at(std::size_t head) {
    constexpr std::size_t kLongest = 400;
    const std::size_t choices = made_.choices.size();
    Hyperblock block{.steps{}, .most_slots = 0, .inner = true, .loop = false};
    std::vector<bool> passed(region_.nodes.size());
    Place place{head, 0};
    bool more = true;
    while (more && block.steps.size() < kLongest) {
      passed[place.node] = true;
      const Step& step = block.steps.emplace_back(region_.at(place));
      const std::optional<Place> to = region_.jump_of(step);
      more = to ? !passed[to->node] && !made_.of[to->node]
                : step.kind == Kind::straight || step.kind == Kind::branch;
      if (more) place = after(block.steps, place, passed);
    }
    if (more || made_.choices.size() == choices) {
      made_.choices.resize(choices);
      return std::nullopt;
    }
    measure(block);
    return block;
  }

  /// Where a stretch goes on after its last step. A choice that would lead back into the stretch
  /// stays a branch, so that the stretch ends with a jump.
  Place after(std::vector<Step>& steps, const Place& place, const std::vector<bool>& passed) {
    const Place next = *follow(steps, place, kNowhere);
    const bool round = next.step == 0 && passed[next.node];
    if (!round || steps.back().kind != Kind::choose) return next;
    steps.back() = region_.at(place);
    made_.choices.pop_back();
    return {place.node, place.step + 1};
  }

  [[nodiscard]] bool leads_to(const Step& step, std::size_t node) const {
    return region_.exit_of(step).node == static_cast<int>(node);
  }

  /// Where the turn goes on after its last step, which is at `place`; nothing if it ends. The step
  /// becomes a hyperblock's: pass or choose.
  std::optional<Place> follow(std::vector<Step>& steps, const Place& place, const Place& head) {
    Step& step = steps.back();
    const Place next{place.node, place.step + 1};
    if (step.kind == Kind::straight) return next;
    if (step.kind == Kind::loop_end)
      return leads_to(step, head.node) ? std::optional(head) : std::nullopt;
    if (step.kind == Kind::branch) {
      std::optional<Chosen> chosen;
      if (!timed_) chosen = choice_of(joins_, steps, head);
      if (!chosen) return next;
      step.kind = Kind::choose;
      step.choice = made_.choices.size();
      if (chosen->choice.compared == nullptr && !chosen->choice.skips) ask_directly(steps);
      note_registers(step, chosen->choice);
      made_.choices.push_back(std::move(chosen->choice));
      return chosen->after;
    }
    const std::optional<Place> to = region_.jump_of(step);
    if (to && *to != head) step.kind = Kind::pass;
    return to;
  }

  /// If the last step, a branch, tests a register set by a comparison whose operands are still
  /// there, lets it compare those operands: selections then need not wait for the register.
  static void ask_directly(std::vector<Step>& steps) {
    using enum isa::Mnemonic;
    isa::Instruction& branch = steps.back().instruction;
    if (branch.rs2 != 0 || (branch.mnemonic != beq && branch.mnemonic != bne)) return;
    bool inverted = branch.mnemonic == beq;
    std::uint8_t asked = branch.rs1;
    std::uint32_t written = 0;
    for (std::size_t i = steps.size() - 1; i-- > 0; written |= steps[i].sets.writes_x) {
      const Step& step = steps[i];
      const isa::Instruction& is = step.instruction;
      if ((step.sets.writes_x >> asked & 1) == 0) continue;
      if (step.kind != Kind::straight) return;
      if (is.mnemonic == xori && is.imm == 1) {
        asked = is.rs1;
        inverted = !inverted;
        continue;
      }
      const bool kept = (written & step.sets.reads_x) == 0 && (step.sets.reads_x >> is.rd & 1) == 0;
      if (!kept) return;
      if (is.mnemonic == slt)
        branch.mnemonic = inverted ? bge : blt;
      else if (is.mnemonic == sltu)
        branch.mnemonic = inverted ? bgeu : bltu;
      else if (is.mnemonic == sltiu && is.imm == 1)
        branch.mnemonic = inverted ? bne : beq;
      else
        return;
      branch.rs1 = is.rs1;
      branch.rs2 = is.rs2;
      steps.back().sets.reads_x = step.sets.reads_x;
      return;
    }
  }

  /// Notes the registers that a choice reads and writes, as if it were one step.
  static void note_registers(Step& step, const Choice& choice) {
    for (const Choice::Select& each : choice.x) step.sets.writes_x |= 1U << each.rd;
    for (const Choice::Select& each : choice.f) step.sets.writes_f |= 1U << each.rd;
    if (choice.skips)
      for (const Step& each : choice.sides[0]) {
        step.sets.writes_x |= each.sets.writes_x;
        step.sets.writes_f |= each.sets.writes_f;
        step.sets.reads_x |= each.sets.reads_x;
        step.sets.reads_f |= each.sets.reads_f;
      }
    step.sets.reads_x |= choice.reads_x;
    step.sets.reads_f |= choice.reads_f;
  }

  /// True if the loop is emitted at this node: loops of several nodes at each of them if they have
  /// choices, else only at the top.
  static bool worth(const Hyperblock& block) {
    const auto has = [&](Kind kind) {
      return std::any_of(block.steps.begin(), block.steps.end(),
                         [&](const Step& step) { return step.kind == kind; });
    };
    return has(Kind::choose) || !has(Kind::pass) || block.steps.back().pc >= block.steps.front().pc;
  }

  void measure(Hyperblock& block) const {
    for (const Step& step : block.steps) {
      const bool last = &step == &block.steps.back();
      if (step.kind == Kind::choose) {
        const Choice& choice = made_.choices[step.choice];
        block.most_slots += choice.pass.slots + std::max<std::int64_t>(choice.more.slots, 0);
        if (choice.both) block.most_slots += std::max<std::int64_t>(choice.both->slots, 0);
        block.inner = true;
      } else if (step.kind == Kind::leave) {
        block.most_slots += step.before.slots;
      } else if (step.kind == Kind::pass || last) {
        PathCost spent;
        spent.add(region_.exit_of(step));
        block.most_slots += spent.slots;
        block.inner |= !last;
      }
    }
  }

  const Region& region_;
  Joins joins_;
  bool timed_;
  std::size_t most_steps_;
  Loops made_;
};

}  // namespace

Loops find_loops(const Region& region, bool timed, std::size_t most_steps) {
  return HyperblockFinder(region, timed, most_steps).find();
}

}  // namespace tessera::engine::native
