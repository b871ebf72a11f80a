#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/snn/snn.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::snn;
using test::small_machine;

namespace {

/// 60 addresses to four classes, about a third of the neurons active; 12 streams.
Options network(const std::vector<std::uint32_t>& layers) {
  Options options;
  options.layers = layers;
  options.data.kind = DataKind::custom;
  options.data.inputs = 60;
  options.data.classes = 4;
  options.data.rate = 0.2;
  options.data.samples = 12;
  options.max_activity = 0.3;
  options.time_steps = 7;
  options.batch = 6;
  options.steps = 3;
  options.weight_scale = 40;
  options.learning.rate = 0.05;
  return options;
}

std::string run(const Options& options, const MachineConfig& machine = small_machine(16)) {
  return test::run_workload<Snn>(options, machine);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("lists and losses are those of the plain network, whatever the neurons") {
    for (const NeuronKind kind : {NeuronKind::lif, NeuronKind::cuba_lif, NeuronKind::adaptive}) {
      for (const bool recurrent : {false, true}) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(recurrent);
        Options options = network({30, 24, 4});
        options.neuron.kind = kind;
        options.neuron.recurrent = recurrent;
        CHECK(run(options) == "passed");
        options.loss = Loss::membrane;
        CHECK(run(options) == "passed");
      }
    }
  }

  TEST_CASE("layers of odd sizes, one alone, tiles of many neurons, several layers") {
    CHECK(run(network({4})) == "passed");
    CHECK(run(network({17, 4})) == "passed");
    CHECK(run(network({41, 25, 13, 9, 4})) == "passed");
    CHECK(run(network({31, 4}), small_machine(2)) == "passed");
    Options options = network({31, 20, 4});
    options.neurons_per_tile = 7;
    CHECK(run(options) == "passed");
  }

  TEST_CASE("spikes of a sample looked for by several tiles, lists that overflow and that do not") {
    Options options = network({500, 4});
    for (const double activity : {0.004, 0.05, 1.0}) {
      CAPTURE(activity);
      options.max_activity = activity;
      CHECK(run(options, small_machine(40)) == "passed");
    }
  }

  TEST_CASE("gradients of a layer's spikes added up in groups of tiles") {
    Options options = network({16, 60, 4});
    CHECK(run(options, small_machine(41)) == "passed");
    options.neuron.recurrent = true;
    CHECK(run(options, small_machine(41)) == "passed");
  }

  TEST_CASE("inference, feeds, test samples, optimisers, a batch of one") {
    Options options = network({20, 4});
    options.data.test_samples = 12;
    CHECK(run(options) == "passed");
    options.feed = Feed::device;
    options.learning.optimiser = training::Optimiser::adam;
    CHECK(run(options) == "passed");
    options.train = false;
    CHECK(run(options) == "passed");
    options.batch = 1;
    options.train = true;
    CHECK(run(options) == "passed");
    options.learning.schedule = training::Schedule::step;
    options.learning.decay_every = 2;
    options.learning.decay = 0.5;
    CHECK(run(options) == "passed");
  }

  TEST_CASE("other machines: one context, twelve, contexts that share a pipeline") {
    const Options options = network({20, 12, 4});
    MachineConfig machine = small_machine(11);
    for (const std::uint32_t contexts : {1U, 2U, 12U}) {
      machine.tile.contexts = contexts;
      CAPTURE(contexts);
      CHECK(run(options, machine) == "passed");
    }
    machine.tile.contexts = 4;
    machine.tile.issue = IssueKind::interleaved;
    machine.tile.dual_issue = false;
    CHECK(run(options, machine) == "passed");
  }

  TEST_CASE("dense activations, on the matrix units, come to the same losses") {
    Options options = network({30, 24, 4});
    options.activations = Activations::dense;
    CHECK(run(options) == "passed");
    options.loss = Loss::membrane;
    options.feed = Feed::device;
    CHECK(run(options) == "passed");
    options.train = false;
    CHECK(run(options) == "passed");
  }

  TEST_CASE("two layers learn a task of moving spots: more than 90 % of the test samples") {
    Options options = network({64, 8});
    options.data.inputs = 96;
    options.data.classes = 8;
    options.data.rate = 0.08;
    options.data.noise = 0.2;
    options.data.samples = 256;
    options.data.test_samples = 128;
    options.loss = Loss::membrane;
    options.max_activity = 0.6;
    options.time_steps = 40;
    options.batch = 32;
    options.steps = 40;
    options.weight_scale = 6;
    options.learning.optimiser = training::Optimiser::adam;
    options.learning.rate = 0.02;
    const auto accuracy = [&](std::uint32_t steps) {
      options.steps = steps;
      return in_child([&]() -> std::string {
        const MachineConfig machine = small_machine(40);
        MeasuredCosts costs(machine);
        const Snn workload(options, costs);
        const program::Program program = workload.build();
        Machine built(machine, program, costs.compile(program), {});
        built.run();
        // The losses of all steps are those of the plain network.
        const CheckResult check = workload.check(built.memory(), {CheckMode::full});
        if (!check.passed) return check.problem;
        return std::to_string(workload.results(built.memory()).at("test_accuracy").get<double>());
      });
    };
    CHECK(std::stod(accuracy(40)) > 0.9);
    CHECK(std::stod(accuracy(1)) < 0.5);
  }

  TEST_CASE("the time of a tile follows the spikes it gets") {
    const auto cycles = [](double rate) {
      Options options = network({40, 4});
      options.data.rate = rate;
      options.data.inputs = 400;
      options.data.max_events = 400;
      options.train = false;
      options.steps = 1;
      const std::string answer = test::run_workload<Snn>(
          options, small_machine(23), [](const RunResult& result, const Snn&) {
            return std::to_string(result.time.total().count());
          });
      REQUIRE(answer.starts_with("passed"));
      return std::stoull(answer.substr(6));
    };
    CHECK(cycles(0.9) > cycles(0.1));
  }
}
