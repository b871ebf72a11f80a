#include <algorithm>
#include <functional>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "kernels/snn/program.h"
#include "tests/kernels/changed_memory.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::snn;

/// What the check sees: single bits of what a run leaves, and programs with one thing wrong.
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

/// Turns over the last bit of an element of each tensor that the machine leaves; returns the names
/// of those where the check passes all the same, and of what is not right to begin with.
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
      // Of a list, how many spikes its second step has; of others their middle.
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

using Change = std::function<void(const program::Program&, program::Step&)>;
void visit(const program::Program& program, program::Sequence& sequence, const Change& change) {
  for (program::Step& step : sequence.steps) {
    if (auto* const repeat = std::get_if<program::Repeat>(&step.action))
      visit(program, repeat->body, change);
    change(program, step);
  }
}

/// What the check says of a run of the program with each step changed; "passed" and nothing else if
/// it sees nothing.
std::string said_of(const Options& options, const Change& change,
                    CheckMode mode = CheckMode::automatic) {
  return in_child([&]() -> std::string {
    const MachineConfig machine = test::small_machine(41);
    MeasuredCosts costs(machine);
    const Snn workload(options, costs);
    program::Program program = workload.build();
    visit(program, program.main(), change);
    const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
    Simulation built(machine, program, program::compile(program, machine, *exchanges), {});
    built.run();
    const CheckResult check = workload.check(TensorReader(program, built.memory()), {mode});
    return check.passed ? "passed" : check.problem;
  });
}

/// Of the host's transfer that gives events and labels, piece by piece.
Change of_pieces(const std::function<void(program::HostPiece&)>& change) {
  return [change](const program::Program&, program::Step& step) {
    auto* const exchange = std::get_if<program::Exchange>(&step.action);
    if (exchange != nullptr && exchange->host &&
        exchange->host->direction == program::HostTransfer::Direction::read)
      for (program::HostPiece& piece : exchange->host->pieces) change(piece);
  };
}
/// Of a byte of the events or labels of batch `number`.
Change flip_fed(bool labels, std::uint64_t number, std::size_t byte) {
  return of_pieces([=](program::HostPiece& piece) {
    if (labels != (piece.bytes == sizeof(std::uint32_t))) return;
    piece.contents = [=, was = piece.contents](std::span<std::byte> into, std::uint64_t batch) {
      was(into, batch);
      if (batch == number) into[byte % into.size()] ^= std::byte{1};
    };
  });
}
/// Of the vertices of a codelet.
Change of_vertices(const std::string& codelet,
                   const std::function<void(program::Vertex&)>& change) {
  return [=](const program::Program& program, program::Step& step) {
    if (auto* const set = std::get_if<program::ComputeSet>(&step.action))
      for (program::Vertex& vertex : set->vertices)
        if (program.codelets()[vertex.codelet].name == codelet) change(vertex);
  };
}
Change word_of(const std::string& codelet, std::size_t argument, std::uint32_t value) {
  return of_vertices(codelet, [=](program::Vertex& vertex) { vertex.arguments[argument] = value; });
}
Change of_copies(const std::string& exchange, const std::function<void(program::Copy&)>& change) {
  return [=](const program::Program&, program::Step& step) {
    auto* const found = std::get_if<program::Exchange>(&step.action);
    if (found != nullptr && found->name == exchange)
      std::for_each(found->copies.begin(), found->copies.end(), change);
  };
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

  TEST_CASE("one bit that the host feeds wrong in one batch is seen") {
    for (const std::uint32_t batch : {0U, 1U}) {
      CAPTURE(batch);
      for (const std::size_t byte : {0U, 8U})
        CHECK(said_of(network(), flip_fed(false, batch, byte)) != "passed");
      CHECK(said_of(network(), flip_fed(true, batch, 0)) != "passed");
    }
    // What no result depends on is seen where it lies to the end: a word behind a list's ids.
    CHECK(said_of(network(), flip_fed(false, 1, ~std::size_t{0})) != "passed");
  }

  TEST_CASE("tile code with other parameters, a worker's part short of a word") {
    Options options = network();
    options.steps = 1;
    const auto seen = [&](const Change& change) { return said_of(options, change) != "passed"; };
    CHECK_FALSE(seen([](const program::Program&, program::Step&) {}));
    // Steepness, of the surrogate.
    CHECK(seen(word_of("snn_state_gradient_lif", 9, training::bits_of(9.9999))));
    CHECK(seen(word_of("training_adam", 5, training::bits_of(0.9001))));
    CHECK(seen(word_of("training_adam", 6, training::bits_of(0.99901))));
    CHECK(seen(word_of("training_adam", 7, training::bits_of(1e-7))));
    CHECK(seen(word_of("training_cross_entropy", 7, training::bits_of(0.1666))));
    CHECK(seen(of_vertices("training_adam", [](program::Vertex& vertex) {
      std::get<std::uint32_t>(vertex.arguments[9]) -= 1;
    })));
    // A copy of the gradients is not added up.
    CHECK(seen(of_vertices("snn_sum", [](program::Vertex& vertex) {
      std::get<std::uint32_t>(vertex.arguments[4]) -= 1;
    })));
    // Gradients of spikes go to the next neuron.
    CHECK(seen(of_vertices("snn_place", [](program::Vertex& vertex) {
      std::get<program::Place>(vertex.arguments[3]).offset += 4;
    })));
    CHECK(seen(of_vertices("snn_weight_gradient", [](program::Vertex& vertex) {
      std::get<program::Place>(vertex.arguments[6]).offset += 8;
    })));
  }

  TEST_CASE("lists, gradients and marks that arrive a word or a sample off are seen") {
    Options options = network();
    options.steps = 1;
    const auto shifted = [&](const std::string& exchange, std::uint32_t bytes) {
      return said_of(options, of_copies(exchange, [bytes](program::Copy& copy) {
                       if (copy.source.offset == 0) copy.source.offset += bytes;
                     }));
    };
    const auto shortened = [&](const std::string& exchange) {
      return said_of(options, of_copies(exchange, [](program::Copy& copy) {
                       if (copy.bytes > 4) copy.bytes -= 4;
                     }));
    };
    CHECK(shifted("marks", 4) != "passed");
    CHECK(shifted("spike gradients", 4) != "passed");
    CHECK(shifted("losses", 0) == "passed");
    CHECK(shortened("spikes") != "passed");
    CHECK(shortened("spikes back") != "passed");
    CHECK(shortened("marks") != "passed");
  }

  TEST_CASE("a sample sees lists of the last test batch that are not its") {
    Options options = network();
    options.data.test_samples = 6;
    options.max_activity = 1;
    const auto said = [&](std::uint32_t bytes) {
      int seen = 0;  // the test batches' exchange comes last
      return said_of(
          options,
          [bytes, seen](const program::Program& program, program::Step& step) mutable {
            auto* const exchange = std::get_if<program::Exchange>(&step.action);
            if (exchange == nullptr || exchange->name != "marks" || ++seen < 2) return;
            of_copies("marks", [bytes](program::Copy& copy) {
              if (copy.source.offset == 0) copy.source.offset += bytes;
            })(program, step);
          },
          CheckMode::sample);
    };
    CHECK(said(0) == "passed");
    CHECK(said(4).starts_with("layer "));
  }
}
