#include "kernels/stream/stream.h"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/saved.h"
#include "tests/kernels/right.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::stream;

namespace {

using test::small_machine;

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every operation and type is exact in the predicted cycles") {
    test::check_right("stream");
  }

  TEST_CASE("workers that bring blocks from outside end exactly, in the predicted cycles") {
    for (const IssueKind issue : {IssueKind::revolver, IssueKind::interleaved})
      for (const Operation operation :
           {Operation::read, Operation::write, Operation::copy_dma, Operation::copy,
            Operation::scale, Operation::add, Operation::triad})
        for (const program::Type type :
             {program::Type::f16, program::Type::f32, program::Type::i32})
          for (const std::uint32_t elements : {1U, 64U, 200U, 1000U}) {
            MachineConfig machine = small_machine(2);
            machine.tile.issue = issue;
            machine.tile.reissue_cycles = issue == IssueKind::revolver ? 11 : 0;
            machine.tile.contexts = 1 + elements % 7;
            machine.has_external = true;
            machine.external.reach = ExternalReach::tile;
            machine.external.mib_per_channel = 1;
            machine.external.worker_dma = WorkerDmaConfig{8, 256};
            Options options;
            options.external = true;
            options.operation = operation;
            options.dtype = type;
            options.elements_per_worker = elements;
            options.block_bytes = 128;
            const auto view = [&](const RunResult& result, const Stream& stream) {
              const Facts facts = facts_of(operation);
              const std::uint64_t moved = (result.external_read + result.external_written).count();
              const std::uint64_t cycles = result.time.total().count();
              const bool counted = moved >= (facts.reads + facts.writes) * std::uint64_t{elements};
              return cycles == stream.prediction().cycles && counted
                         ? std::string()
                         : fmt::format(" {} {}", cycles, moved);
            };
            CHECK(test::run_workload<Stream>(options, machine, {view}) == "passed");
          }
  }

  TEST_CASE("an update is one integer operation an element and repeat") {
    Options options;
    options.operation = Operation::update;
    options.dtype = program::Type::i32;
    options.elements_per_worker = 20;
    options.repeats = 7;
    MeasuredCosts costs(small_machine(2));
    CHECK(Stream(options, costs).useful_integer_operations() == 20 * 6 * 2 * 7);
    CHECK(Stream(options, costs).useful_flops() == 0);
  }

  TEST_CASE("a revolver's update takes six turns an element") {
    MachineConfig machine = small_machine(1);
    machine.tile.issue = IssueKind::revolver;
    machine.tile.reissue_cycles = 11;
    Options options;
    options.operation = Operation::update;
    options.dtype = program::Type::i32;
    const auto cycles = [&](std::uint32_t contexts, std::uint32_t elements) {
      machine.tile.contexts = contexts;
      options.elements_per_worker = elements;
      MeasuredCosts costs(machine);
      return Stream(options, costs).prediction().cycles;
    };
    for (const std::uint32_t contexts : {1U, 2U, 10U, 11U, 12U, 24U}) {
      CAPTURE(contexts);
      CHECK(cycles(contexts, 300) - cycles(contexts, 200) == 600 * std::max(contexts, 11U));
    }
  }

  TEST_CASE("useful bytes count the arrays that an operation touches, once a repeat") {
    Options options;
    options.elements_per_worker = 10;
    options.repeats = 3;
    MeasuredCosts costs(small_machine(2));
    CHECK(Stream(options, costs).useful_bytes() == 3 * 10 * 4 * 6 * 2 * 3);
    options.operation = Operation::copy;
    options.dtype = program::Type::f16;
    CHECK(Stream(options, costs).useful_bytes() == 2 * 10 * 2 * 6 * 2 * 3);
  }
}

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
TEST_SUITE("cli") {
  TEST_CASE("STREAM's a is b + 1.5 c") {
    const test::CommandFolder folder;
    test::run_saving(folder,
                     test::tensors_config(
                         R"("kernel": "stream", "elements_per_worker": 20, "dtype": "f32")", 2));
    const std::vector<double> a = test::saved(folder, "a").values;
    const std::vector<double> b = test::saved(folder, "b").values;
    const std::vector<double> c = test::saved(folder, "c").values;
    REQUIRE(a.size() == 2 * 6 * 20);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == b[i] + 1.5 * c[i]);
  }
}
