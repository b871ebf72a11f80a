#pragma once

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/kernels/drawn_points.h"
#include "tests/kernels/run_workload.h"

/// Checks that a machine with more of some resources is never slower.
namespace tessera::test {

/// Highest accepted cycles on the larger machine / cycles on the smaller one.
constexpr double kMostSlower = 1.05;

/// Improves one randomly chosen resource of a machine.
class Growths {
 public:
  Growths(MachinePoints& points, MachineConfig& machine) : points_(points), machine_(machine) {}

  void grow() {
    using Growth = void (Growths::*)();
    constexpr Growth kGrowths[] = {
        &Growths::tiles,       &Growths::tiles,    &Growths::tiles,    &Growths::sram,
        &Growths::sram,        &Growths::fabric,   &Growths::fabric,   &Growths::waits,
        &Growths::matrix_unit, &Growths::widths,   &Growths::slots,    &Growths::latency,
        &Growths::latency,     &Growths::launches, &Growths::contexts, &Growths::contexts};
    (this->*kGrowths[points_.below(std::size(kGrowths))])();
  }

 private:
  /// Raises the number of tiles up to 64, odd numbers included.
  void tiles() { machine_.tiles += static_cast<std::uint32_t>(points_.below(65 - machine_.tiles)); }
  void sram() { machine_.tile.sram_kib += points_.one_of({1U, 8U, 40U, 1000U}); }
  void fabric() {
    FabricConfig& fabric = machine_.fabric;
    if (fabric.kind == "ideal") return;
    switch (points_.below(3)) {
      case 0:
        return raise(fabric.send_bytes_per_cycle, {4, 9, 16});
      case 1:
        return raise(fabric.receive_bytes_per_cycle, {4, 8, 17});
      default:
        fabric.pair_sharing = true;
    }
  }
  void waits() {
    lower(machine_.fabric.cycles_per_hop, {0});
    lower(machine_.fabric.fixed_cycles, {0, 50});
    lower(machine_.sync.chip_cycles, {0, 45});
  }
  void matrix_unit() {
    MatrixUnitConfig& unit = machine_.tile.matrix_unit;
    for (MatrixShape* shape : {&unit.f16, &unit.f16_f32, &unit.f32}) {
      MatrixShape larger = *shape;
      if (larger.exists()) raise(larger.inputs, {16, 32, 64});
      raise(larger.outputs, {8, 16, 32});
      larger.interval = 1;
      if (!larger.exists() || larger.allowed()) *shape = larger;
    }
    raise(unit.weight_load_bytes_per_cycle, {8, 32});
  }
  void widths() {
    raise(machine_.tile.load_bytes_per_slot, {8, 16, 32});
    raise(machine_.tile.store_bytes_per_slot, {8});
  }
  void slots() {
    machine_.tile.dual_issue = true;
    machine_.tile.slots.plain = 1;
  }
  void latency() {
    LatencyConfig& latency = machine_.tile.latency;
    std::uint32_t* const all[] = {&latency.load,    &latency.integer,     &latency.f32_fma,
                                  &latency.f16_fma, &latency.f32_add,     &latency.f16_add,
                                  &latency.matrix,  &latency.branch_taken};
    for (std::uint32_t* each : all) lower(*each, {1, 3, 6});
  }
  /// Lowers the costs of the supervisor's instructions and of its launches.
  void launches() {
    SupervisorCosts& costs = machine_.tile.supervisor;
    if (machine_.tile.issue == IssueKind::barrel) {
      lower(costs.plain_cycles, {1});
      lower(costs.branch_taken_cycles, {6});
      lower(costs.load_use_stall_cycles, {0, 5});
    }
    lower(costs.launch_cycles, {6});
    lower(costs.launch_stagger_cycles, {0, 4});
    lower(costs.join_cycles, {6});
    lower(costs.weight_load_cycles, {6});
  }
  /// Not for a barrel: its slots are fixed, so more contexts make each worker slower.
  void contexts() {
    if (shares_pipeline(machine_.tile)) raise(machine_.tile.contexts, {3, 6, 12, 24});
  }

  void raise(std::uint32_t& value, std::initializer_list<std::uint32_t> values) {
    value = std::max(value, points_.one_of(values));
  }
  void lower(std::uint32_t& value, std::initializer_list<std::uint32_t> values) {
    value = std::min(value, points_.one_of(values));
  }

  MachinePoints& points_;
  MachineConfig& machine_;
};

/// A problem and two machines that run it.
struct MachinePair {
  Point point;
  MachineConfig smaller, larger;
};

inline MachinePair drawn_pair(const Point& stated, MachinePoints& points) {
  MachinePair pair{stated, points.machine(), {}};
  MachineConfig& smaller = pair.smaller;
  smaller.tiles = points.one_of({1U, 2U, 3U, 4U, 7U, 12U, 16U, 23U, 40U});
  smaller.tile.sram_kib = points.one_of({24U, 40U, 64U, 120U, 256U});
  if (stated.facts.contains("unit"))
    draw_unit(points, stated.facts.at("unit"), smaller.tile.matrix_unit);
  if (stated.facts.contains("draws")) pair.point = drawn_point(stated, points, smaller.tiles);
  pair.larger = smaller;
  Growths growths(points, pair.larger);
  const std::size_t count = 1 + points.below(4);
  for (std::size_t i = 0; i < count; ++i) growths.grow();
  return pair;
}

/// The result of a run.
struct Ended {
  std::string said;
  double cycles = 0;
  std::string work = {};  ///< operations and useful bytes of the run

  [[nodiscard]] bool passed() const { return cycles > 0; }
};

inline Ended run_on(const KernelOptions& options, const MachineConfig& machine) {
  Ended ended{run_options(options, machine, [](const RunResult& result, const Workload& workload) {
    return fmt::format(" {} {} {} {}", result.time.total().count(), workload.useful_flops(),
                       workload.useful_integer_operations(), workload.useful_bytes());
  })};
  if (!ended.said.starts_with("passed ")) return ended;
  std::size_t end = 0;
  const std::string facts = ended.said.substr(sizeof "passed");
  ended.cycles = std::stod(facts, &end);
  ended.work = facts.substr(end);
  return ended;
}

/// The verdict on a pair; a problem names the point, both machines' differences and both runs.
struct Judged {
  bool compared = false;  ///< both do the same work, and the smaller machine can run it
  std::string problem = {};
};

/// Operations and useful bytes of a run; these may grow with the machine (a matrix unit's block on
/// every tile). A run that failed is repeated with more SRAM; empty if it fails again.
inline std::string work_on(const KernelOptions& options, const Ended& ended,
                           MachineConfig machine) {
  if (ended.passed()) return ended.work;
  constexpr std::uint32_t kRoom = 4096;
  machine.tile.sram_kib = std::max(machine.tile.sram_kib, kRoom);
  return run_on(options, machine).work;
}

inline Judged judge(const MachinePair& pair) {
  using config::resolved;
  const auto options = pair.point.options_read();
  const Ended smaller = run_on(*options, pair.smaller);
  if (!smaller.passed()) return {};
  const Ended larger = run_on(*options, pair.larger);
  const std::string work = work_on(*options, larger, pair.larger);
  if (!work.empty() && work != smaller.work) return {};
  if (larger.passed() && larger.cycles <= kMostSlower * smaller.cycles) return {true};
  return {true, fmt::format("{}: {} cycles, then {}\n  machine {}\n  grown {}",
                            pair.point.describe(), smaller.cycles,
                            larger.passed() ? fmt::format("{}", larger.cycles) : larger.said,
                            differences(resolved(MachineConfig{}), resolved(pair.smaller)).dump(),
                            differences(resolved(pair.smaller), resolved(pair.larger)).dump())};
}

/// The points in `predicted`, and the small point of each kernel that has none there.
inline std::vector<Point> points_of_pairs() {
  std::vector<Point> all = points("predicted");
  for (Point& small : small_points())
    if (std::none_of(all.begin(), all.end(),
                     [&](const Point& point) { return point.kernel == small.kernel; }))
      all.push_back(std::move(small));
  return all;
}

/// Compares `count` pairs, kernels in turn; at most `allowed` may be slower or fail on the larger.
inline void check_pairs(std::size_t count, std::uint64_t seed, std::size_t allowed) {
  const std::vector<Point> stated = points_of_pairs();
  std::vector<MachinePoints> machines = machines_for(stated, seed);
  constexpr std::size_t kTold = 250;
  std::size_t slower = 0;
  for (std::size_t compared = 0; compared < count;) {
    const std::size_t turn = compared % stated.size();
    const Judged judged = judge(drawn_pair(stated[turn], machines[turn]));
    if (judged.compared && ++compared % kTold == 0)
      MESSAGE(compared, " pairs, ", slower, " of them slower");
    if (judged.problem.empty()) continue;
    MESSAGE("pair ", compared, " is slower on the larger machine: ", judged.problem);
    ++slower;
  }
  MESSAGE(slower, " of ", count, " pairs are slower on the larger machine");
  CHECK(slower <= allowed);
}

}  // namespace tessera::test
