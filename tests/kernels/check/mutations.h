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

/// Finished results with one thing wrong, to see what checks see.
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

/// The buffers that a check reads, whole: results of one type.
using Results = std::map<program::BufferId, std::vector<std::byte>>;

/// Notes what is read.
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

/// Gives what it is told.
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

/// An element of the results of `least` and more in size, so that it matters; for `swapped` its
/// neighbour differs from it by as much.
struct Site {
  program::BufferId buffer{};
  std::size_t element = 0;
};
Site choose_site(const Results& results, program::Type type, Mutation mutation,
                 std::uint64_t number, double least);
/// The results with one element of `site` changed (at last to what is no number), or its tile (it
/// holds another's results), or all by the distance to the next number above, or by 16 times that
/// up or down.
Results mutated(Results results, program::Type type, Mutation mutation, const Site& site);

/// By mutation: how many of `trials` sites a check of these results finds.
using Rates = std::array<unsigned, kMutations.size()>;
Rates found_mutations(const Workload& workload, const Results& results, program::Type type,
                      CheckMode mode, unsigned trials);
std::string text(const Rates& rates);

/// Runs what `plan` returns in a process of its own and asks `body` of it and its results.
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

/// The verdict of both kinds of checks on a run.
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
