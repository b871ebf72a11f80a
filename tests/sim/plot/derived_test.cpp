#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/plot/quantity.h"
#include "tests/sim/plot/samples.h"

using namespace tessera;
using namespace tessera::plot;
using test::runs;

TEST_SUITE("unit") {
  TEST_CASE("arithmetic over key paths is a number of each run that has them all") {
    Source source = runs({"n"}, {{4, 100}, {nullptr, 100}});
    CHECK(is_derived("time.cycles / n"));
    CHECK_FALSE(is_derived("workload.plan.cuts[0]"));
    derive(source.rows, "time.cycles / n", "--y");
    CHECK(number(source.rows.rows[0], "time.cycles / n") == 25);
    CHECK_FALSE(number(source.rows.rows[1], "time.cycles / n").has_value());
    CHECK(source.rows.axes == std::vector<std::string>{"n"});
  }

  TEST_CASE("labels and units follow from those of the paths") {
    CHECK(quantity_of("time.cycles / workload.n", 0).title() == "time / n (cycles)");
    CHECK(quantity_of("traffic.exchange_bytes / time.seconds", 5e9).title() ==
          "exchange traffic / time (GB/s)");
    CHECK(quantity_of("time.cycles / prediction.cycles", 0).title() == "time / predicted time");
    CHECK(quantity_of("work.flops / (time.cycles * machine.tiles)", 100).title() ==
          "work / (time * tiles) (FLOP/cycles)");
    CHECK(quantity_of("2 * max(time.cycles, 1)", 0).title() == "2 * max(time, 1) (cycles)");
  }

  TEST_CASE("whether more is better follows from the paths") {
    CHECK_FALSE(more_is_better("time.cycles / workload.n"));
    CHECK(more_is_better("workload.n / time.cycles"));
    CHECK(more_is_better("rate.flops_per_second / machine.tiles"));
    CHECK_FALSE(more_is_better("-rate.flops_per_second"));
    CHECK_FALSE(more_is_better("workload.n * 2"));
  }

  TEST_CASE("mistakes name the text and the nearest path") {
    Source source = runs({"n"}, {{0, 100}});
    const auto refused = [&](const std::string& text, const std::string& message) {
      CHECK_THROWS_WITH_AS(derive(source.rows, text, "--y"), doctest::Contains(message.c_str()),
                           UserError);
    };
    refused("time.cycle / n", "runs: --y: no run has time.cycle, allowed");
    refused("time.cycles /", "runs: --y: time.cycles /: position 14: found the end");
    refused("time.cycles / n", "runs: --y: time.cycles / n: /: division by zero");
  }
}
