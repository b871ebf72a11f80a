#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "kernels/snn/program.h"
#include "tests/kernels/changed_memory.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::snn;

/// The check detects single changed bits in a run's memory.
namespace {

Options network() {
  Options options;
  options.layers = {30, 24, 4};
  options.data = {.kind = DataKind::custom, .inputs = 60, .classes = 4, .rate = 0.2, .samples = 12};
  options.max_activity = 0.3;
  options.time_steps = 7;
  options.batch = 6;
  options.steps = 2;
  options.weight_scale = 40;
  options.plan.algorithm = Algorithm::published;
  options.learning.optimiser = training::Optimiser::adam;
  return options;
}

using test::ChangedMemory;
using Run = test::Finished<Snn>;
bool passes(const Run& run, const MemoryReader& memory, CheckMode mode) {
  return run.workload.check(TensorReader(run.program, memory), {mode}).passed;
}

/// Inverts one bit of an element of each tensor that the machine computed; returns the names of
/// those whose change the check misses, or "the run itself" if that check fails without a change.
std::string unseen(const Options& options, CheckMode mode) {
  return in_child([&]() -> std::string {
    const Run run(options, test::small_machine(16));
    if (!passes(run, run.machine.memory(), mode)) return "the run itself";
    std::string names;
    for (const program::Tensor& tensor : run.program.tensors()) {
      if (tensor.given) continue;
      if (!tensor.transfer.empty()) {
        if (passes(run, ChangedMemory(run.machine.memory(), tensor.transfer, ChangedMemory::flip),
                   mode))
          names += tensor.name + " ";
        continue;
      }
      const std::size_t part = tensor.parts.size() / 2;
      program::Runs runs;
      tensor.runs(part, runs);
      // For lists the number of spikes in the second step; for other tensors the middle element.
      const bool list = tensor.name.starts_with("spikes_");
      const std::uint64_t at = list ? tensor.shape[2] : runs.all()[runs.all().size() / 2].at;
      auto place = std::get<program::Place>(tensor.parts[part].place);
      place.offset += word(at * sizeof(float));
      if (passes(run, ChangedMemory(run.machine.memory(), place, ChangedMemory::flip), mode))
        names += tensor.name + " ";
    }
    return names;
  });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a bit of a weight, a moment, a list, an event, a count or a loss is seen") {
    Options options = network();
    CHECK(unseen(options, CheckMode::automatic) == "");
    options.neuron.recurrent = true;
    options.learning.optimiser = training::Optimiser::momentum;
    CHECK(unseen(options, CheckMode::full) == "");
    options.train = false;
    options.data.test_samples = 6;
    options.plan.algorithm = Algorithm::bits;
    CHECK(unseen(options, CheckMode::full) == "");
  }

  TEST_CASE("a bit of a weight, a moment or a loss is seen with dense activations") {
    Options options = network();
    options.activations = Activations::dense;
    CHECK(unseen(options, CheckMode::automatic) == "");
  }

  TEST_CASE("a sample sees events, and lists of a last batch that is not trained on") {
    Options options = network();
    options.data.test_samples = 6;
    CHECK(unseen(options, CheckMode::sample) == "totals_0 totals_1 totals_2 test_loss test_right ");
  }
}
