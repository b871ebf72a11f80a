#include "sim/program/liveness.h"

#include <algorithm>

namespace tessera::program {
namespace {

bool within(const FlatLoop& loop, std::int32_t step) {
  return step >= static_cast<std::int32_t>(loop.begin) &&
         step < static_cast<std::int32_t>(loop.end);
}

/// The loops that hold each step, outermost first.
std::vector<std::vector<const FlatLoop*>> loops_by_step(const Flow& flow) {
  std::vector<std::vector<const FlatLoop*>> loops(flow.steps.size());
  for (const FlatLoop& loop : flow.loops) {
    for (std::uint32_t step = loop.begin; step < loop.end; ++step) loops[step].push_back(&loop);
  }
  return loops;
}

class Lifetimes {
 public:
  Lifetimes(const Program& program, const Flow& flow)
      : program_(program), flow_(flow), all_(program.buffers().size()) {
    for (; zone_ < program.zones(); ++zone_) {
      for (std::uint32_t step = flow.begin_of_zone(zone_); step < flow.end_of_zone[zone_]; ++step)
        visit(flow.steps[step], static_cast<std::int32_t>(step));
    }
    // A tile reads its decision after the last step of the test.
    for (const FlatLoop& loop : flow.loops) {
      if (loop.condition == nullptr) continue;
      zone_ = flow.zone_of(loop.begin);
      for (Place place : loop.condition->decisions)
        use(place, static_cast<std::int32_t>(loop.body) - 1);
    }
    const auto end = static_cast<std::int32_t>(flow.steps.size());
    for (std::size_t id = 0; id < all_.size(); ++id) {
      const Buffer& buffer = program.buffers()[id];
      if (buffer.initialised() && (all_[id].used() || buffer.keep)) use(all_[id], -1);
      if (buffer.keep) use(all_[id], end);
    }
    widen_over_loops();
  }

  std::vector<Lifetime> take() { return std::move(all_); }

 private:
  void visit(const FlatStep& step, std::int32_t time) {
    if (step.compute != nullptr) {
      for (const Vertex& vertex : step.compute->vertices) {
        for (const Argument& argument : vertex.arguments) {
          if (const auto* place = std::get_if<Place>(&argument)) use(*place, time);
        }
      }
    } else if (step.exchange != nullptr) {
      for_each_place(*step.exchange, [&](Place place) { use(place, time); });
    }
  }

  /// Records a use in a step of zone_: tiles of other zones take part in an exchange in steps of
  /// their own zone.
  void use(Place place, std::int32_t time) {
    if (program_.zones() == 1 || program_.zone_of(program_.buffer(place.buffer).tile) == zone_)
      use(all_[static_cast<std::size_t>(place.buffer)], time);
  }

  static void use(Lifetime& life, std::int32_t time) {
    life = life.used() ? Lifetime{std::min(life.first, time), std::max(life.last, time)}
                       : Lifetime{time, time};
  }

  void widen_over_loops() {
    if (flow_.loops.empty()) return;
    const auto loops = loops_by_step(flow_);
    const auto end = static_cast<std::int32_t>(flow_.steps.size());
    for (Lifetime& life : all_) {
      if (!life.used()) continue;
      const Lifetime uses = life;
      if (uses.first >= 0 && uses.first < end) {
        life.first = begin_of_outermost(loops[static_cast<std::size_t>(uses.first)], uses);
      }
      if (uses.last >= 0 && uses.last < end) {
        life.last = end_of_outermost(loops[static_cast<std::size_t>(uses.last)], uses);
      }
    }
  }

  // Only loops at the ends can widen a life: a loop around an inner use lies between the ends, or
  // contains one or both of them.
  static std::int32_t begin_of_outermost(const std::vector<const FlatLoop*>& loops, Lifetime uses) {
    for (const FlatLoop* loop : loops) {
      if (lives_throughout(*loop, uses)) return static_cast<std::int32_t>(loop->begin);
    }
    return uses.first;
  }

  static std::int32_t end_of_outermost(const std::vector<const FlatLoop*>& loops, Lifetime uses) {
    for (const FlatLoop* loop : loops) {
      if (lives_throughout(*loop, uses)) return static_cast<std::int32_t>(loop->end) - 1;
    }
    return uses.last;
  }

  /// True if a buffer used in `loop` (at one end at least) is live during all of it: if it is also
  /// used outside, or in both the test and the body of a While.
  static bool lives_throughout(const FlatLoop& loop, Lifetime uses) {
    if (!within(loop, uses.first) || !within(loop, uses.last)) return true;
    const auto body = static_cast<std::int32_t>(loop.body);
    return loop.condition != nullptr && uses.first < body && uses.last >= body;
  }

  const Program& program_;
  const Flow& flow_;
  std::uint32_t zone_ = 0;
  std::vector<Lifetime> all_;
};

}  // namespace

std::vector<Lifetime> lifetimes(const Program& program, const Flow& flow) {
  return Lifetimes(program, flow).take();
}

}  // namespace tessera::program
