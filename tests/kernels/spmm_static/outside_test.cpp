#include <doctest/doctest.h>

#include "kernels/spmm_static/spmm_static.h"
#include "tests/kernels/outside_machine.h"
#include "tests/kernels/run_workload.h"

using namespace tessera;
using namespace tessera::spmm_static;

TEST_SUITE("run") {
  TEST_CASE("a W whose values all tiles together do not hold is brought in parts") {
    Options options;
    options.weights = {.m = 400, .k = 400, .block = 16, .density = 0.6, .dtype = Type::f16};
    options.n = 40;
    options.external = true;
    MachineConfig machine = test::outside_machine(4, 2, true);
    machine.tile.sram_kib = 32;
    const auto parts = [](const RunResult& /*result*/, const SpmmStatic& product) {
      return fmt::format(" in {} parts", product.plan().at("rounds").at("m").get<std::uint32_t>());
    };
    const std::string said = test::run_workload<SpmmStatic>(options, machine, {parts});
    CHECK((said == "passed in 2 parts" || said == "passed in 4 parts"));
  }

  TEST_CASE("a W without blocks gives zeros, operands outside or not") {
    Options options;
    options.weights.m = options.weights.k = 64;
    options.weights.density = 1e-9;
    options.external = true;
    CHECK(test::run_workload<SpmmStatic>(options, test::outside_machine(4, 2, true)) == "passed");
  }
}
