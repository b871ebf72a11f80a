#include "sim/engine/native/region.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "sim/engine/instruction_kind.h"

namespace tessera::engine::native {
namespace {

using isa::Mnemonic;

constexpr std::size_t kMostNodes = 96;
constexpr std::size_t kMostTimes = 6;  ///< copies of a step in a region, on average

class Finder {
 public:
  Finder(std::size_t most_steps, const RegionContext& code)
      : most_steps_(most_steps), code_(code) {}

  Region find(const Op* hot, const PipelineState* pipeline_state) {
    node_at(hot, pipeline_state);
    for (std::size_t i = 0; i < region_.nodes.size(); ++i) {
      fill(i);
      link_returns();
    }
    return std::move(region_);
  }

 private:
  /// The number of the node, made if there is room; else kOutside.
  int node_at(const Op* first, const PipelineState* pipeline_state) {
    const auto known = numbers_.find({first, pipeline_state});
    if (known != numbers_.end()) return known->second;
    const bool full = different_ >= most_steps_ || region_.steps >= kMostTimes * most_steps_;
    if (full || region_.nodes.size() >= kMostNodes) return kOutside;
    const auto number = static_cast<int>(region_.nodes.size());
    numbers_.emplace(std::pair(first, pipeline_state), number);
    region_.nodes.push_back({.first = first, .pipeline_state = pipeline_state});
    return number;
  }

  void fill(std::size_t number) {
    const Block& block = code_.block_of(region_.nodes[number].first);
    const Op* op = region_.nodes[number].first;
    bool more = true;
    for (; more; ++op) {
      const Site& site = block.sites[static_cast<std::size_t>(op - block.ops.data())];
      Step step{.op = op, .pc = site.pc, .node = number, .before = site.before};
      step.kind = kind_of(*op, step);
      step.exit = region_.nodes[number].exits.size();
      region_.nodes[number].steps.push_back(step);
      ++region_.steps;
      // With pipeline states every node is kept.
      if (region_.nodes[number].pipeline_state != nullptr || pcs_.insert(site.pc).second)
        ++different_;
      more = step.kind == Kind::straight || step.kind == Kind::branch;
      add_ways(number, step);
    }
  }

  Kind kind_of(const Op& op, Step& step) const {
    if (op.handler == code_.handlers->loop_end) return Kind::loop_end;
    if (op.handler == code_.handlers->fall_through) return Kind::fall_through;
    for (const Handler leaving :
         {handler::known_fault, handler::misaligned_target, handler::stop, handler::csr})
      if (op.handler == leaving) return Kind::leave;
    step.instruction = code_.instruction(step.pc);
    step.sets = isa::registers(step.instruction);
    switch (step.instruction.mnemonic) {
      case Mnemonic::jal:
        return Kind::jump;
      case Mnemonic::jalr:
        return Kind::jump_register;
      case Mnemonic::rpt:
        return streams(op) ? Kind::leave : Kind::loop;
      default:
        break;
    }
    return is_conditional(step.instruction.mnemonic) ? Kind::branch : Kind::straight;
  }

  /// True if a handler of matrix_stream.h executes the whole body of the rpt at `op`.
  bool streams(const Op& op) const {
    const Op* each = &op + 1;
    for (; each->handler != code_.handlers->loop_end; ++each)
      if (each->edge != nullptr) return true;
    return false;
  }

  const PipelineTransition* transition(const Edge& edge, const PipelineState* from) const {
    return code_.transition ? &code_.transition(edge, from) : nullptr;
  }

  void add_ways(std::size_t number, const Step& step) {
    if (step.kind == Kind::straight || step.kind == Kind::leave) return;
    const Edge& edge = *step.op->edge;
    Exit exit{.edge = &edge};
    exit.transition = transition(edge, region_.nodes[number].pipeline_state);
    const PipelineState* const after = exit.transition != nullptr ? exit.transition->to : nullptr;
    region_.loops |= step.kind == Kind::loop || step.kind == Kind::loop_end;
    switch (step.kind) {
      case Kind::loop:
        exit.node = node_at(step.op + 1, after);
        break;
      case Kind::loop_end:
        exit.node = node_at(body_of(step.op), after);
        region_.nodes[number].exits.push_back(exit);
        exit.node = node_at(step.op + 1, after);
        break;
      case Kind::jump_register:
        add_targets(number, after);
        break;
      default:
        if (const Op* next = linked(edge)) exit.node = node_at(next, after);
        break;
    }
    const bool jumps = step.kind == Kind::jump || step.kind == Kind::jump_register;
    if (jumps && step.instruction.rd != 0) calls_.push_back(step.pc + 4);
    region_.nodes[number].exits.push_back(exit);
  }

  const Op* body_of(const Op* loop_end) const {
    return code_.block_of(loop_end).ops.data() + loop_end->imm;
  }

  /// The block behind an edge that has been taken before.
  const Op* linked(const Edge& edge) const {
    const Op* const target = edge.taken();
    return target != nullptr ? code_.original(target) : nullptr;
  }

  /// Adds a jalr's targets: the address made by an auipc before it, if any (`calls`); returns,
  /// later; else those seen before.
  void add_targets(std::size_t number, const PipelineState* after) {
    Node& node = region_.nodes[number];
    const isa::Instruction& jump = node.steps.back().instruction;
    const Step* const before = node.steps.size() > 1 ? &node.steps.end()[-2] : nullptr;
    node.calls = before != nullptr && before->kind == Kind::straight && jump.rs1 != 0 &&
                 before->instruction.mnemonic == Mnemonic::auipc &&
                 before->instruction.rd == jump.rs1;
    if (!node.calls) {
      // Returns to callers outside leave the region: callers and callees together would need more
      // registers than the host has.
      if (node.steps.back().returns()) {
        jumps_.emplace_back(number, after);
        return;
      }
      const Edge& edge = *node.steps.back().op->edge;
      for (const Op* op : code_.went(edge))
        add_target(number, code_.block_of(op).sites.front().pc, op, after);
      return;
    }
    const std::uint32_t pc =
        (static_cast<std::uint32_t>(before->op->imm) + static_cast<std::uint32_t>(jump.imm)) & ~1U;
    add_target(number, pc, code_.entry(pc), after);
  }

  /// Adds a target if it has an entry and there is room.
  void add_target(std::size_t number, std::uint32_t pc, const Op* entry,
                  const PipelineState* after) {
    const auto& known = region_.nodes[number].targets;
    const bool there =
        std::any_of(known.begin(), known.end(), [&](const auto& each) { return each.first == pc; });
    if (there || known.size() >= kMostTargets || entry == nullptr) return;
    const int next = node_at(entry, after);
    if (next != kOutside) region_.nodes[number].targets.emplace_back(pc, next);
  }

  /// Links returns to the instruction after every call of the region.
  void link_returns() {
    for (const auto& [number, after] : jumps_)
      for (const std::uint32_t pc : calls_) add_target(number, pc, code_.entry(pc), after);
  }

  std::size_t most_steps_;
  const RegionContext& code_;
  Region region_;
  std::unordered_set<std::uint32_t> pcs_;  ///< pcs with a step
  std::size_t different_ = 0;              ///< number of steps, counted once per pc
  std::map<std::pair<const Op*, const PipelineState*>, int> numbers_;
  /// Nodes that end with a return.
  std::vector<std::pair<std::size_t, const PipelineState*>> jumps_;
  std::vector<std::uint32_t> calls_;  ///< pcs behind calls
};

}  // namespace

void Region::keep(const std::vector<bool>& kept) {
  const auto outside = [&](int node) {
    return node != kOutside && !kept[static_cast<std::size_t>(node)];
  };
  steps = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node& node = nodes[i];
    node.kept = kept[i];
    if (node.kept) steps += node.steps.size();
    for (Exit& exit : node.exits)
      if (outside(exit.node)) exit.node = kOutside;
    std::erase_if(node.targets, [&](const auto& target) { return outside(target.second); });
  }
}

Region find_region(const Op* hot, const PipelineState* pipeline_state, std::size_t most_steps,
                   const RegionContext& code) {
  return Finder(most_steps, code).find(hot, pipeline_state);
}

}  // namespace tessera::engine::native
