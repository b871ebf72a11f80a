#include "sim/engine/profile.h"

#include "sim/base/errors.h"
#include "sim/engine/code.h"

namespace tessera::engine {
namespace {

/// Adds the slots of `times` passes of a stretch that begin with `from`.
void add_passes(const Code& code, const Edge& edge, const PipelineState* from, std::uint64_t times,
                Profile& profile) {
  std::span<const std::uint32_t> pcs = edge.pcs();
  InstructionProfile* last = nullptr;
  const std::uint64_t behind = code.transitions().replay(
      edge, from, [&](std::span<const Demand> group, const Scoreboard::Ready& ready) {
        for (std::size_t i = 0; i < group.size(); ++i) profile[pcs[i]].times += times;
        last = &profile[pcs.front()];
        last->issued += issued_slots(group) * times;
        last->waits[static_cast<std::size_t>(ready.cause)] += ready.waited * times;
        pcs = pcs.subspan(group.size());
      });
  if (last != nullptr) last->waits[static_cast<std::size_t>(Cause::branch)] += behind * times;
}

}  // namespace

InstructionProfile& InstructionProfile::operator+=(const InstructionProfile& other) {
  times += other.times;
  issued += other.issued;
  for (std::size_t i = 0; i < kCauses; ++i) waits[i] += other.waits[i];
  arbitration += other.arbitration;
  return *this;
}

std::uint64_t InstructionProfile::slots() const {
  std::uint64_t slots = issued + arbitration;
  for (const std::uint64_t wait : waits) slots += wait;
  return slots;
}

Profile profile(const Code& code) {
  check(code.profiled(), "engine: a profile of code that was not decoded for it");
  Profile profile = code.issues();
  code.each_edge([&](const Edge& edge) {
    for (const PipelineTransition* each = edge.transitions.load(std::memory_order_acquire);
         each != nullptr; each = each->next) {
      const std::uint64_t times = each->times.load(std::memory_order_relaxed);
      if (times > 0) add_passes(code, edge, each->from, times, profile);
    }
  });
  return profile;
}

}  // namespace tessera::engine
