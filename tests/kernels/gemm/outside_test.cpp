
#include <doctest/doctest.h>

#include "kernels/gemm/gemm.h"
#include "models/fabric/fabric.h"
#include "models/machine.h"
#include "sim/report/external.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"
#include "tests/models/in_child.h"
#include "tests/models/memory/memory_target.h"

using namespace tessera;
using namespace tessera::gemm;

namespace {

Options outside(Product product, Type dtype = Type::f16) {
  return {.product = product, .dtype = dtype, .external = true};
}

struct Phases {
  std::uint64_t cycles, external;
};

/// Runs the product in a separate process.
Phases phases(const Options& options, const MachineConfig& machine) {
  const std::string told =
      test::run_workload<Gemm>(options, machine, [](const RunResult& result, const Gemm& /*gemm*/) {
        return fmt::format(" {} {}", result.time.total().count(), result.time.external.count());
      });
  Phases phases{};
  const int read = std::sscanf(told.c_str(), "passed %lu %lu", &phases.cycles, &phases.external);
  CAPTURE(told);
  REQUIRE(read == 2);
  return phases;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("operands in a platform's memory are right") {
    CHECK(in_child([] {
            MachineConfig config = test::outside_machine(4, 1, true);
            config.tile.sram_kib = 64;
            config.external.model = ExternalModel::platform;
            MeasuredCosts costs(config);
            const Gemm gemm(outside({100, 60, 200}), costs);
            const program::Program program = gemm.build();
            const program::Images images =
                program::compile(program, config, *fabric::make_exchange_compiler(config.fabric));
            MachineModule module("machine", config, program, images, {});
            const auto nanoseconds = [](double value) {
              return sc_core::sc_time(value, sc_core::SC_NS);
            };
            sample::MemoryTarget memory("memory", 1 << 20, nanoseconds(60), nanoseconds(7));
            module.outside.bind(memory.socket);
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
            module.load(program, images, 0);
            check(module.start(), "not started");
            sc_core::sc_start();
            if (const auto failure = module.failure()) std::rethrow_exception(failure);
            const CheckResult result =
                gemm.check(TensorReader(program, module.memory()), {CheckMode::full});
            check(result.passed, "{}", result.problem);
            const auto section = report::external_section(config, images, module.result());
            check(!section.contains("channels") && !section.contains("peak_bytes_per_second"),
                  "the report knows channels");
            check(section.at("read_bytes") > 0, "nothing was read");
            return std::string("passed");
          }) == "passed");
  }
}

TEST_SUITE("theory") {
  TEST_CASE("overlapping rounds take as long as the slower of tiles and memory, and a filling") {
    for (const std::uint32_t channels : {1U, 2U, 4U, 16U}) {
      CAPTURE(channels);
      Options options = outside({256, 256, 1024});
      options.partials = Type::f32;
      options.plan = Plan{4, 2, 1, 1, Stationary::b, Type::f32};
      options.plan->rounds = Rounds{1, 1, 32};
      const Phases apart = phases(options, test::outside_machine(8, channels, false));
      const Phases beside = phases(options, test::outside_machine(8, channels, true));
      const std::uint64_t working = apart.cycles - apart.external;
      const std::uint64_t filling = std::min(working, apart.external) / 32;
      const auto expected = static_cast<double>(std::max(working, apart.external) + filling);
      CHECK(static_cast<double>(beside.cycles) == doctest::Approx(expected).epsilon(0.03));
    }
  }
}
