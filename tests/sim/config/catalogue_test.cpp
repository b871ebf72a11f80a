#include "sim/program/catalogue.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/catalogue.h"
#include "models/costs/measured_costs.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

using namespace tessera;

namespace {

struct RefusedOptions {
  std::uint32_t n = 12;
};
void describe(config::Fields& fields, RefusedOptions& options) {
  fields.field({"n", "columns"}, options.n, {1, 100});
}
std::unique_ptr<Workload> refuse(const RefusedOptions& options, MachineCosts& /*costs*/) {
  throw UserError(fmt::format("n is {}", options.n));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a kernel's options are visited and planned through the catalogue's types") {
    const Kernel kernel = make_kernel<RefusedOptions>("refuse", "plans nothing", refuse);
    const std::unique_ptr<KernelOptions> options = kernel.options();
    const config::Json resolved =
        config::resolved([&](config::Fields& fields) { options->visit(fields); });
    CHECK(resolved.dump() == R"({"n":12,"used_tiles":0})");
    MeasuredCosts costs({});
    CHECK_THROWS_WITH_AS(static_cast<void>(options->plan(costs)), "n is 12", UserError);
  }

  TEST_CASE("the catalogue's kernels have distinct names and a sentence each") {
    const Catalogue catalogue = kernels::catalogue();
    for (std::size_t i = 0; i < catalogue.size(); ++i) {
      CHECK(!catalogue[i].sentence.empty());
      for (std::size_t j = 0; j < i; ++j) CHECK(catalogue[i].name != catalogue[j].name);
    }
  }
}
