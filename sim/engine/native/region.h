#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/engine/block.h"
#include "sim/engine/handlers.h"
#include "sim/isa/mnemonic.h"
#include "sim/isa/registers.h"

/// Regions: stretches of code that are translated together, and the exits that join them.
namespace tessera::engine::native {

constexpr int kOutside = -1;  ///< an exit that leads out of the region

/// An exit of a node: the edge taken, and the node that goes on.
struct Exit {
  const Edge* edge = nullptr;
  const PipelineTransition* transition = nullptr;  ///< timed codes: cost of taking the edge here
  int node = kOutside;
};

/// A translated step's action after its instruction.
enum class Kind : std::uint8_t {
  straight,
  branch,         ///< goes on at exit `exit` if it is taken
  jump,           ///< goes on at exit `exit`
  jump_register,  ///< goes on at one of `targets`, or leaves
  loop,           ///< enters the body of an rpt
  loop_end,       ///< repeats at exit `exit`, or goes on at exit `exit` + 1
  fall_through,   ///< goes on in the next block
  leave,          ///< the interpreter executes it and all after it
  // Only in hyperblocks:
  pass,   ///< goes on at exit `exit`, the next step's node
  choose  ///< a branch whose two sides are both executed
};

struct Step {
  Kind kind = Kind::leave;
  const Op* op = nullptr;
  isa::Instruction instruction{};
  std::uint32_t pc = 0;
  std::size_t node = 0;  ///< the step's node
  std::size_t exit = 0;
  std::size_t choice = 0;
  Cost before;               ///< cost of the instructions executed since the node was entered
  isa::RegisterSets sets{};  ///< registers of `instruction`, if there is one

  /// True for a jalr through the link register that does not link.
  [[nodiscard]] bool returns() const {
    constexpr std::uint8_t kLink = 1;
    return kind == Kind::jump_register && instruction.rd == 0 && instruction.rs1 == kLink;
  }
  [[nodiscard]] bool always_taken() const {
    const bool counts = instruction.mnemonic == isa::Mnemonic::bdnz;
    return kind == Kind::jump || (counts && instruction.rs1 == 0);
  }
};

/// A stretch that is entered at its first instruction, in one state of the pipeline: a block or the
/// body of an rpt.
struct Node {
  const Op* first = nullptr;
  const PipelineState* pipeline_state = nullptr;
  std::vector<Step> steps;  ///< the last one ends the node
  std::vector<Exit> exits;
  /// Targets of the last step, a jump_register: pc and node. If `calls`, there are no others.
  std::vector<std::pair<std::uint32_t, int>> targets;
  bool calls = false;
  bool kept = true;  ///< false: never entered, only other nodes use its steps
};

/// A step, by number.
struct Place {
  std::size_t node = 0;
  std::size_t step = 0;
  bool operator==(const Place&) const = default;
};

/// Calls visit(node) for each node of the region that may follow `node` where `step` ends it.
template <class Visit>
void each_successor(const Node& node, const Step& step, Visit visit) {
  if (step.kind == Kind::straight || step.kind == Kind::leave || step.kind == Kind::choose) return;
  const auto go = [&](int next) {
    if (next != kOutside) visit(static_cast<std::size_t>(next));
  };
  go(node.exits[step.exit].node);
  if (step.kind == Kind::loop_end) go(node.exits[step.exit + 1].node);
  if (step.kind != Kind::jump_register) return;
  for (const auto& [pc, next] : node.targets) go(next);
}

struct Region {
  std::vector<Node> nodes;  ///< the first one is the hot one
  std::size_t steps = 0;    ///< sum over kept nodes
  bool loops = false;       ///< it has an rpt

  /// Keeps these nodes; exits to others then lead outside.
  void keep(const std::vector<bool>& kept);

  [[nodiscard]] const Step& at(const Place& place) const {
    return nodes[place.node].steps[place.step];
  }
  [[nodiscard]] Place place_of(const Step& step) const {
    return {step.node, static_cast<std::size_t>(step.op - nodes[step.node].first)};
  }
  [[nodiscard]] const Exit& exit_of(const Step& step) const {
    return nodes[step.node].exits[step.exit];
  }
  /// Where a step that only jumps or falls through goes on; nothing if that is outside.
  [[nodiscard]] std::optional<Place> jump_of(const Step& step) const {
    const bool jumps =
        step.kind == Kind::fall_through || (step.kind == Kind::jump && step.instruction.rd == 0);
    if (!jumps || exit_of(step).node == kOutside) return std::nullopt;
    return Place{static_cast<std::size_t>(exit_of(step).node), 0};
  }
};

/// Lookups in the region's code, which is locked meanwhile.
struct RegionContext {
  std::function<const Block&(const Op*)> block_of;
  std::function<const Op*(const Op*)> original;   ///< the interpreter's Op for a translated entry
  std::function<const Op*(std::uint32_t)> entry;  ///< null: never executed
  std::function<isa::Instruction(std::uint32_t)> instruction;
  /// Empty: not timed.
  std::function<const PipelineTransition&(const Edge&, const PipelineState*)> transition;
  /// Known targets of the jalr with the edge: the interpreter's Ops.
  std::function<const std::vector<const Op*>&(const Edge&)> went;
  const HandlerSet* handlers = nullptr;
};

constexpr std::size_t kMostTargets = 6;  ///< targets of one jump_register

/// The nodes reached from `hot` over edges that have been taken before, of at most about
/// `most_steps` different instructions.
Region find_region(const Op* hot, const PipelineState* pipeline_state, std::size_t most_steps,
                   const RegionContext& code);

}  // namespace tessera::engine::native
