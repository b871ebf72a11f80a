#include "sim/program/flow.h"

#include <map>

#include "sim/base/errors.h"

namespace tessera::program {
namespace {

class Flattener {
 public:
  Flattener(const Program& program, Flow& flow) : program_(program), flow_(flow) {}

  void add_zone(std::uint32_t zone) {
    behind_ = Behind::branch;
    add(program_.steps(zone), 0);
    flow_.end_of_zone.push_back(here());
  }

 private:
  /// The step or control directly before the next step.
  enum class Behind : std::uint8_t {
    step,
    repeat,  ///< or that loop's end
    branch   ///< or the zone's beginning
  };

  [[nodiscard]] std::uint32_t here() const {
    return static_cast<std::uint32_t>(flow_.steps.size());
  }

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

  void add_step(const Step& step) {
    FlatStep flat{.compute = std::get_if<ComputeSet>(&step.action),
                  .exchange = std::get_if<Exchange>(&step.action),
                  .measured = step.measured};
    if (const auto* start = std::get_if<Start>(&step.action)) {
      flat.exchange = &program_.exchange(start->exchange);
      flat.waits = false;
    } else if (const auto* wait = std::get_if<Wait>(&step.action)) {
      flat.exchange = &program_.exchange(wait->exchange);
      flat.starts = false;
    }
    const bool apart = flat.exchange != nullptr && !(flat.starts && flat.waits);
    const bool alone =
        flat.waits_for_host() || (!flow_.steps.empty() && flow_.steps.back().waits_for_host());
    const bool same =
        behind_ != Behind::branch && !alone && flow_.steps.back().measured == step.measured;
    const bool continues = flat.compute != nullptr && !flat.compute->syncs &&
                           behind_ == Behind::step && flow_.steps.back().exchange != nullptr;
    flat.sync = !(same && (apart || continues));
    behind_ = Behind::step;
    if (flat.exchange != nullptr) flat.number = number_of(flat.exchange, apart);
    flow_.steps.push_back(flat);
  }

  std::uint32_t number_of(const Exchange* exchange, bool apart) {
    const auto next = static_cast<std::uint32_t>(flow_.exchanges.size());
    if (apart) {
      const auto [known, is_new] = numbers_.try_emplace(exchange, next);
      if (!is_new) return known->second;
    }
    flow_.exchanges.push_back(exchange);
    return next;
  }

  void add_loop(const Repeat& repeat, std::uint32_t depth) {
    if (repeat.count == 0) return;
    if (repeat.count == 1) return add(repeat.body, depth);
    const std::uint32_t begin = here();
    const std::size_t slot = flow_.loops.size();
    flow_.loops.push_back({begin, begin, repeat.count, depth});
    const Behind before = behind_;
    if (before != Behind::branch) behind_ = Behind::repeat;
    add(repeat.body, depth + 1);
    flow_.loops[slot].end = here();
    if (here() == begin) {
      flow_.loops.resize(slot);
      behind_ = before;
    } else if (flow_.steps.back().measured != flow_.steps[begin].measured ||
               flow_.steps.back().waits_for_host()) {
      flow_.steps[begin].sync = true;
    }
  }

  /// A barrier begins the test, the body and the step after the loop: each is a branch target.
  void add_while(const While& loop, std::uint32_t depth) {
    const std::uint32_t begin = here();
    const std::size_t slot = flow_.loops.size();
    flow_.loops.push_back({begin, begin, 0, depth, &loop, begin});
    add_behind_branch(loop.test, depth);
    flow_.loops[slot].body = here();
    check(flow_.loops[slot].body > begin, "program: {}: a test of no steps", loop.name);
    add_behind_branch(loop.body, depth);
    flow_.loops[slot].end = here();
    behind_ = Behind::branch;
  }

  void add_behind_branch(const Sequence& sequence, std::uint32_t depth) {
    behind_ = Behind::branch;
    add(sequence, depth);
  }

  const Program& program_;
  Flow& flow_;
  std::map<const Exchange*, std::uint32_t> numbers_;  // of exchanges with separate starts and waits
  Behind behind_ = Behind::branch;
};

}  // namespace

Flow flatten(const Program& program) {
  Flow flow;
  Flattener flattener(program, flow);
  for (std::uint32_t zone = 0; zone < program.zones(); ++zone) flattener.add_zone(zone);
  return flow;
}

}  // namespace tessera::program
