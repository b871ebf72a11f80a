#include <cmath>
#include <cstdio>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/mlp/mlp.h"
#include "tests/kernels/changed_memory.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::mlp;
using test::small_machine;

namespace {

constexpr std::uint32_t kClasses = 5;

/// A network for 6 x 5 pixels and five classes; 60 training samples, 30 test samples.
Options network(std::uint32_t batch, const std::vector<LayerOptions>& layers) {
  Options options;
  options.layers = layers;
  options.layers.push_back({LayerKind::dense, kClasses, 0, Activation::none});
  options.data = {.width = 6, .height = 5, .classes = kClasses, .samples = 60, .test_samples = 30};
  options.batch = batch;
  options.steps = 12;
  options.learning.rate = 0.1;
  return options;
}

LayerOptions of_kind(LayerKind kind, std::uint32_t outputs, std::uint32_t block = 4) {
  LayerOptions layer{kind, outputs, 5, Activation::relu};
  layer.block = block;
  return layer;
}

LayerOptions hidden(std::uint32_t outputs, Activation activation) {
  return {LayerKind::dense, outputs, 0, activation};
}

struct Phases {
  double cycles, host;
};

/// Total cycles of `steps` steps, and those in which the tiles wait for the host.
Phases host_phases(std::uint32_t steps, double gigabytes_per_second, bool overlap) {
  Options options = network(20, {hidden(40, Activation::relu)});
  options.data.test_samples = 0;
  options.steps = steps;
  MachineConfig machine = small_machine(4);
  machine.host = {0, 0, gigabytes_per_second};
  machine.tile.overlap = overlap;
  const auto phases_of = [](const test::Finished<Mlp>& run) {
    return fmt::format("{} {}", run.result.time.total().count(), run.result.time.host.count());
  };
  const std::string told =
      test::told<Mlp>(options, machine, phases_of, {.check_races = true, .measure_host = true});
  CAPTURE(told);
  Phases phases{};
  REQUIRE(std::sscanf(told.c_str(), "%lf %lf", &phases.cycles, &phases.host) == 2);
  return phases;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a learned gamma is compared and told; copies learn the same one") {
    LayerOptions layer = of_kind(LayerKind::pixelfly, 24);
    layer.gamma = 0.6;
    layer.learn_gamma = true;
    Options options = network(10, {layer});
    options.replicas = 2;
    for (const program::Type type : {program::Type::f32, program::Type::f16}) {
      options.dtype = type;
      CHECK(
          test::told<Mlp>(
              options, small_machine(9), [](const test::Finished<Mlp>& run) -> std::string {
                const auto place = std::get<program::Place>(
                    run.tensors.tensor("weights_0_gamma").parts.front().place);
                const test::ChangedMemory other(run.machine.memory(), place,
                                                test::ChangedMemory::add(0.01F));
                if (run.workload.check(TensorReader(run.program, other), {CheckMode::full}).passed)
                  return "a wrong gamma passes";
                const auto told = run.workload.results(run.tensors).at("gamma_0").get<double>();
                return std::abs(told - 0.6) > 1e-3 ? "learned" : "stayed";
              }) == "learned");
    }
  }

  TEST_CASE("the host gives the next batch during a turn where the machine overlaps") {
    for (const double rate : {0.005, 0.05, 0.5}) {
      const Phases one = host_phases(1, rate, false);
      const Phases two = host_phases(2, rate, false);
      const double host = two.host - one.host;
      const double work = two.cycles - one.cycles - host;
      for (const std::uint32_t steps : {2U, 5U}) {
        CAPTURE(steps);
        CAPTURE(rate);
        const Phases apart = host_phases(steps, rate, false);
        const Phases beside = host_phases(steps, rate, true);
        // Every iteration but one hides the shorter of host time and work.
        CHECK(apart.cycles - beside.cycles ==
              doctest::Approx((steps - 1) * std::min(host, work)).epsilon(0.03).scale(work));
      }
    }
  }

  TEST_CASE("all copies hold the same parameters after a training") {
    Options options = network(12, {of_kind(LayerKind::butterfly, 20)});
    options.replicas = 3;
    CHECK(test::told<Mlp>(
              options, small_machine(9), [](const test::Finished<Mlp>& run) -> std::string {
                const std::vector<program::Buffer>& buffers = run.program.buffers();
                std::vector<std::vector<std::byte>> copies(3);
                for (std::uint32_t id = 0; id < buffers.size(); ++id) {
                  const program::Buffer& buffer = buffers[id];
                  if (buffer.name != "weights") continue;
                  std::vector<std::byte> bytes(buffer.bytes);
                  run.machine.memory().read({program::BufferId{id}}, bytes);
                  auto& copy = copies[index(buffer.tile) / 3];
                  copy.insert(copy.end(), bytes.begin(), bytes.end());
                }
                if (copies[0].empty()) return "no weights";
                return copies[0] == copies[1] && copies[0] == copies[2] ? "equal" : "not equal";
              }) == "equal");
  }

  TEST_CASE("every step of a training is the same supersteps, in all about as many cycles") {
    const auto view = [](const RunResult& result, const Mlp& /*workload*/) -> std::string {
      std::vector<std::vector<std::uint32_t>> turns;
      std::vector<std::uint64_t> cycles;
      for (const SuperstepRecord& step : result.steps) {
        if (step.program_step == result.steps.front().program_step) {
          turns.emplace_back();
          cycles.push_back(0);
        }
        turns.back().push_back(step.program_step);
        cycles.back() += step.time.total().count();
      }
      for (std::size_t i = 0; i < turns.size(); ++i) {
        // Iteration 0 does not wait for earlier ones; the last one is followed by other steps.
        if (i > 0 && i + 1 < turns.size() && turns[i] != turns[1]) return " another shape";
        if (i > 1 && i + 1 < turns.size() && cycles[i] * 100 > cycles[1] * 101)
          return fmt::format(" turn {}: {} cycles, turn 1: {}", i, cycles[i], cycles[1]);
      }
      return fmt::format(" {} turns", turns.size());
    };
    for (const program::Type dtype : {program::Type::f32, program::Type::f16}) {
      Options options = network(10, {of_kind(LayerKind::butterfly, 20)});
      options.dtype = dtype;
      options.replicas = 2;
      options.data.test_samples = 0;
      CHECK(test::run_workload<Mlp>(options, small_machine(8), view) == "passed 12 turns");
    }
  }
}
