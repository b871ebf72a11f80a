#include "sim/program/flow.h"

#include "sim/base/errors.h"

namespace tessera::program {
namespace {

class Flattener {
 public:
  explicit Flattener(Flow& flow) : flow_(flow) {}

  void add(const Sequence& sequence, std::uint32_t depth) {
    for (const Step& step : sequence.steps) {
      if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
        add_loop(*repeat, depth);
      } else if (const auto* condition = std::get_if<While>(&step.action)) {
        add_while(*condition, depth);
      } else {
        add_step(step);
      }
    }
  }

 private:
  void add_step(const Step& step) {
    FlatStep flat{.compute = std::get_if<ComputeSet>(&step.action),
                  .exchange = std::get_if<Exchange>(&step.action),
                  .transfer = std::get_if<HostTransfer>(&step.action),
                  .measured = step.measured};
    const bool continues = flat.compute != nullptr && !at_loop_start_ && !flow_.steps.empty() &&
                           flow_.steps.back().exchange != nullptr &&
                           flow_.steps.back().measured == step.measured;
    flat.sync = !continues;
    at_loop_start_ = false;
    flow_.steps.push_back(flat);
  }

  void add_loop(const Repeat& repeat, std::uint32_t depth) {
    if (repeat.count == 0) return;
    if (repeat.count == 1) return add(repeat.body, depth);
    const auto begin = static_cast<std::uint32_t>(flow_.steps.size());
    const std::size_t slot = flow_.loops.size();
    flow_.loops.push_back({begin, begin, repeat.count, depth});
    const bool outer_start = at_loop_start_;
    at_loop_start_ = true;
    add(repeat.body, depth + 1);
    flow_.loops[slot].end = static_cast<std::uint32_t>(flow_.steps.size());
    if (flow_.loops[slot].end == begin) {
      flow_.loops.resize(slot);
      at_loop_start_ = outer_start;
    }
  }

  /// A barrier begins the test, the body and what comes behind: each is reached by a branch.
  void add_while(const While& loop, std::uint32_t depth) {
    const auto begin = static_cast<std::uint32_t>(flow_.steps.size());
    const std::size_t slot = flow_.loops.size();
    flow_.loops.push_back({begin, begin, 0, depth, &loop, begin});
    add_behind_branch(loop.test, depth);
    flow_.loops[slot].body = static_cast<std::uint32_t>(flow_.steps.size());
    check(flow_.loops[slot].body > begin, "program: {}: a test of no steps", loop.name);
    add_behind_branch(loop.body, depth);
    flow_.loops[slot].end = static_cast<std::uint32_t>(flow_.steps.size());
    at_loop_start_ = true;
  }

  void add_behind_branch(const Sequence& sequence, std::uint32_t depth) {
    at_loop_start_ = true;
    add(sequence, depth);
  }

  Flow& flow_;
  bool at_loop_start_ = false;
};

}  // namespace

Flow flatten(const Program& program) {
  Flow flow;
  Flattener(flow).add(program.main(), 0);
  return flow;
}

}  // namespace tessera::program
