#include "sim/engine/native/analysis.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "sim/engine/instruction_kind.h"

namespace tessera::engine::native {
namespace {

using enum isa::Mnemonic;
using isa::Mnemonic;

constexpr bool between(Mnemonic low, Mnemonic m, Mnemonic high) { return low <= m && m <= high; }

/// Rough frequencies of the steps of kept nodes: loops count ten times as much as the code around
/// them.
class Frequencies {
 public:
  Frequencies(const Region& region, const Loops& loops)
      : region_(region), loops_(loops), nodes_(region.nodes.size(), 1) {
    constexpr int kRounds = 24;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<double> next(nodes_.size(), kElsewhere);
      next[0] += 1;
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        flow(i, [&](int node, double part) {
          if (node != kOutside) next[static_cast<std::size_t>(node)] += part * nodes_[i];
        });
      nodes_ = std::move(next);
    }
  }

  /// Calls visit(step, frequency) for all steps, and for choices of hyperblocks.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!loops_.kept[i]) continue;
      const std::optional<Hyperblock>& block = loops_.of[i];
      const bool stretch = block && !block->loop;
      if (block)
        for (const Step& step : block->steps)
          if (stretch || step.kind == Kind::choose) visit(step, stretch ? nodes_[i] : kElsewhere);
      double left = stretch ? kElsewhere * nodes_[i] : nodes_[i];
      const Node& node = region_.nodes[i];
      for (const Step& step : node.steps) {
        visit(step, left);
        if (step.kind == Kind::branch) left *= 1 - share_of(i, node.exits[step.exit]);
      }
    }
  }

 private:
  static constexpr double kElsewhere = 0.01;

  /// Share of the passes of a node that take an exit.
  [[nodiscard]] double share_of(std::size_t from, const Exit& exit) const {
    constexpr double kBack = 0.9;
    constexpr double kOut = 0.02;
    constexpr double kForward = 0.4;
    if (exit.node == kOutside || !loops_.kept[static_cast<std::size_t>(exit.node)]) return kOut;
    return static_cast<std::size_t>(exit.node) <= from ? kBack : kForward;
  }

  template <class Visit>
  void flow(std::size_t number, Visit visit) const {
    constexpr double kAgain = 0.9;
    const Node& node = region_.nodes[number];
    double left = 1;
    for (const Step& step : node.steps) {
      if (step.kind == Kind::straight || step.kind == Kind::leave) continue;
      const Exit& exit = node.exits[step.exit];
      if (step.kind == Kind::branch) {
        const double share = share_of(number, exit);
        visit(exit.node, left * share);
        left *= 1 - share;
      } else if (step.kind == Kind::loop_end) {
        visit(exit.node, left * kAgain);
        visit(node.exits[step.exit + 1].node, left * (1 - kAgain));
      } else if (step.kind == Kind::jump_register) {
        for (const auto& [pc, target] : node.targets)
          visit(target, left / static_cast<double>(node.targets.size()));
      } else {
        visit(exit.node, left);
      }
    }
  }

  const Region& region_;
  const Loops& loops_;
  std::vector<double> nodes_;
};

/// Gives host registers to the most used registers.
template <std::size_t kCount>
std::array<std::int8_t, kCount> assign(const std::array<double, kCount>& uses, unsigned hosts) {
  std::array<std::int8_t, kCount> made;
  made.fill(kHome);
  std::array<unsigned, kCount> order;
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return uses[a] > uses[b]; });
  for (unsigned i = 0; i < hosts && i < kCount && uses[order[i]] > 0; ++i)
    made[order[i]] = static_cast<std::int8_t>(i);
  return made;
}

/// Gives shadows the host registers after the `used` ones.
template <std::size_t kCount>
void assign_shadows(std::array<std::int8_t, kCount>& made, unsigned used, unsigned shadows) {
  for (unsigned i = 0; i < shadows; ++i)
    made[kFirstShadow + i] = static_cast<std::int8_t>(used + i);
}

void allocate(const Region& region, const Loops& loops, unsigned x_hosts, unsigned f_hosts,
              Allocation& made) {
  std::array<double, kRegisters> x{};
  std::array<double, kRegisters> f{};
  unsigned shadows_x = 0;
  unsigned shadows_f = 0;
  unsigned links = 0;
  for (const Choice& choice : loops.choices) {
    if (choice.both) links = 1;
    shadows_x = std::max(shadows_x, choice.shadows_x);
    shadows_f = std::max(shadows_f, choice.shadows_f);
  }
  Frequencies(region, loops).each([&](const Step& step, double frequency) {
    const auto count = [&](std::uint32_t mask, auto& uses) {
      for (; mask != 0; mask &= mask - 1)
        uses[static_cast<unsigned>(std::countr_zero(mask))] += frequency;
    };
    count(step.sets.reads_x, x);
    count(step.sets.writes_x, x);
    count(step.sets.reads_f, f);
    count(step.sets.writes_f, f);
    if (step.kind == Kind::loop_end || step.kind == Kind::loop) x[kLoopCounter] += 2 * frequency;
    made.written_x |= step.sets.writes_x;
    made.written_f |= step.sets.writes_f;
  });
  if (region.loops) made.written_x |= std::uint64_t{1} << kLoopCounter;
  constexpr unsigned kMostOwn = 6;  // in crowded regions
  const auto used = static_cast<unsigned>(
      std::count_if(x.begin(), x.end(), [](double uses) { return uses > 0; }));
  made.crowded = used + shadows_x + links > x_hosts;
  made.hosts = made.crowded ? kMostOwn : x_hosts;
  made.x = assign(x, made.hosts);
  if (!made.crowded) assign_shadows(made.x, used, shadows_x);
  made.x[kLink] = kHome;
  if (!made.crowded) made.x[kLink] = static_cast<std::int8_t>(used + shadows_x);
  made.free = made.crowded ? x_hosts : used + shadows_x + links;
  made.end_f = f_hosts - shadows_f;
  made.f = assign(f, made.end_f);
  made.free_f = static_cast<unsigned>(
      std::count_if(made.f.begin(), made.f.end(), [](std::int8_t host) { return host != kHome; }));
  assign_shadows(made.f, f_hosts - shadows_f, shadows_f);
}

/// F registers of which `step` reads the upper half too.
std::uint32_t reads_box(const Step& step) {
  const Mnemonic m = step.instruction.mnemonic;
  const bool word = m == fsw || m == fsw_p || m == sgx_s || m == fmv_x_w;
  return step.kind == Kind::straight && word ? 0 : step.sets.reads_f & ~reads_single(step);
}

/// F registers in which `step` leaves a value whose box may be set later.
std::uint32_t writes_unboxed(const Step& step) {
  const Mnemonic m = step.instruction.mnemonic;
  const bool half = between(flh, m, fcvt_h_s) || m == flh_p || m == lgx_h;
  return half ? 0 : writes_boxed(step);
}

/// Data flow, forward: registers boxed on every path, and those not yet boxed on some; backward:
/// registers read as binary32 before they are written. A box that some step reads is set at once.
void find_boxed(const Region& region, Allocation& made) {
  const std::size_t count = region.nodes.size();
  made.singles.assign(count, ~0U);
  made.unboxed.assign(count, 0);
  std::uint32_t whole = 0;
  for (const Node& node : region.nodes)
    for (const Step& step : node.steps) whole |= reads_box(step);
  for (unsigned f = 0; f < 32; ++f)
    if (made.f[f] == kHome) whole |= 1U << f;
  std::vector<std::uint32_t> needed(count, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < count; ++i) {
      const Node& node = region.nodes[i];
      std::uint32_t now = made.singles[i];
      std::uint32_t unboxed = made.unboxed[i];
      std::uint32_t need = needed[i];
      std::uint32_t written = 0;
      for (const Step& step : node.steps) {
        need |= reads_single(step) & ~written;
        now |= reads_single(step);
        written |= step.sets.writes_f;
        now = (now & ~step.sets.writes_f) | writes_boxed(step);
        unboxed = (unboxed & ~step.sets.writes_f) | (writes_unboxed(step) & ~whole);
        each_successor(node, step, [&](std::size_t next) {
          changed |= (made.singles[next] & ~now) != 0;
          made.singles[next] &= now;
          changed |= (unboxed & ~made.unboxed[next]) != 0;
          made.unboxed[next] |= unboxed;
          need |= needed[next] & ~written;
        });
      }
      changed |= need != needed[i];
      needed[i] = need;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    made.singles[i] &= needed[i];
    made.unboxed[i] &= made.singles[i];
  }
}

}  // namespace

std::uint32_t reads_single(const Step& step) {
  const Mnemonic m = step.instruction.mnemonic;
  if (step.kind != Kind::straight || !between(fmadd_s, m, fcvt_s_wu)) return 0;
  return !has_rounding(m) || rounds_as_host(step.instruction) ? step.sets.reads_f : 0;
}

std::uint32_t writes_boxed(const Step& step) {
  const Mnemonic m = step.instruction.mnemonic;
  const bool scalar = between(flw, m, fcvt_s_wu) || between(flh, m, fcvt_h_s) || m == flh_p ||
                      m == flw_p || m == lgx_s || m == lgx_h || m == fmv_w_x;
  return scalar ? step.sets.writes_f : 0;
}

Allocation analyse(const Region& region, const Loops& loops, unsigned x_hosts, unsigned f_hosts) {
  Allocation made;
  allocate(region, loops, x_hosts, f_hosts, made);
  find_boxed(region, made);
  return made;
}

}  // namespace tessera::engine::native
