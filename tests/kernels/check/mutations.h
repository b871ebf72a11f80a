#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/costs/measured_costs.h"
#include "models/fabric/fabric.h"
#include "models/simulation.h"
#include "sim/data/element.h"
#include "sim/data/random.h"
#include "tests/models/in_child.h"

/// Injects one error into correct results, to measure which errors the checks detect.
namespace tessera::test {

enum class Mutation : std::uint8_t {
  zeroed,
  negated,
  times_1_5,
  times_1_004,
  swapped,
  stale,
  bias,
  noise,
  not_a_number
};
inline constexpr std::array kMutations{
    Mutation::zeroed,      Mutation::negated, Mutation::times_1_5,
    Mutation::times_1_004, Mutation::swapped, Mutation::stale,
    Mutation::bias,        Mutation::noise,   Mutation::not_a_number};

/// The complete buffers that a check reads; all results have one type.
using Results = std::map<program::BufferId, std::vector<std::byte>>;

/// Records every buffer that is read.
class Recorder : public MemoryReader {
 public:
  explicit Recorder(const MemoryReader& memory) : memory_(memory) {}
  void read(program::Place place, std::span<std::byte> into) const override {
    memory_.read(place, into);
    std::vector<std::byte>& all = results_[place.buffer];
    if (all.size() < place.offset + into.size()) all.resize(place.offset + into.size());
    std::copy(into.begin(), into.end(), all.begin() + place.offset);
  }
  [[nodiscard]] const Results& results() const { return results_; }

 private:
  const MemoryReader& memory_;
  mutable Results results_;
};

/// A memory that returns the given results.
class Replies : public MemoryReader {
 public:
  explicit Replies(Results results) : results_(std::move(results)) {}
  void read(program::Place place, std::span<std::byte> into) const override {
    const std::vector<std::byte>& all = results_.at(place.buffer);
    std::copy_n(all.begin() + place.offset, into.size(), into.begin());
  }

 private:
  Results results_;
};

/// An element of the results with magnitude `least` or more, so that an error in it matters. For
/// `swapped` its right neighbour differs from it by at least `least`, too.
struct Site {
  program::BufferId buffer{};
  std::size_t element = 0;
};
Site choose_site(const Results& results, program::Type type, Mutation mutation,
                 std::uint64_t number, double least);
/// Results with one error: one element of `site` changed (for `not_a_number` to NaN), all of its
/// tile replaced by another tile's results, or all results moved to the next number above (`bias`)
/// or by 16 such steps up or down (`noise`).
Results mutated(Results results, program::Type type, Mutation mutation, const Site& site);

/// For each mutation: in how many of `trials` sites the check detects it.
using Rates = std::array<unsigned, kMutations.size()>;
Rates found_mutations(const Workload& workload, const Results& results, program::Type type,
                      CheckMode mode, unsigned trials);
std::string text(const Rates& rates);

/// Runs the workload that `plan` returns in its own process and returns body(workload, results).
template <class Plan, class Body>
std::string after_planned(const MachineConfig& machine, const Plan& plan, const Body& body) {
  return in_child([&]() -> std::string {
    MeasuredCosts costs(machine);
    const auto planned = plan(costs);
    const auto& workload = *planned;
    const program::Program program = workload.build();
    const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
    Simulation built(machine, program, program::compile(program, machine, *exchanges), {});
    built.run();
    const Recorder recorder(built.memory());
    const CheckResult check = workload.check(TensorReader(program, recorder), {CheckMode::full});
    if (!check.passed) return "wrong: " + check.problem;
    return body(workload, recorder.results());
  });
}

template <class Kernel, class Options>
std::string after_run(const Options& options, const MachineConfig& machine,
                      const std::function<std::string(const Kernel&, const Results&)>& body) {
  const auto plan = [&](MachineCosts& costs) { return std::make_unique<Kernel>(options, costs); };
  return after_planned(machine, plan, body);
}

/// Runs a workload and checks its results in full, then by samples: "passed" or the first problem.
template <class Kernel, class Options>
std::string verdict(const Options& options, const MachineConfig& machine) {
  return after_run<Kernel>(
      options, machine, [](const Kernel& workload, const Results& results) -> std::string {
        const CheckResult sample =
            workload.check(TensorReader(workload.build(), Replies(results)), {CheckMode::sample});
        return sample.passed ? "passed" : "sampled: " + sample.problem;
      });
}

}  // namespace tessera::test
