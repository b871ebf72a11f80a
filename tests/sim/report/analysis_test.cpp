#include "sim/report/analysis.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/config/json_text.h"
#include "tests/refusal.h"

using namespace tessera;
using report::analyse;
using report::Analysis;
using report::Bound;
using report::Phase;

namespace {

/// A row of steps.csv; its cycles are the sum of the parts.
struct Row {
  const char* name;
  std::uint64_t compute, exchange, sync, wait, last_tile, most;
  double mean;
  std::uint64_t flops;
};

report::RunFolder run_of(const std::vector<Row>& rows, const char* peak_type = "f16",
                         std::uint64_t host_cycles = 0) {
  std::string csv =
      "name,kind,cycles,compute_cycles,exchange_cycles,sync_cycles,link_cycles,host_cycles,"
      "wait_cycles,last_tile,most_compute_cycles,mean_compute_cycles,exchange_bytes,flops\n";
  for (const Row& row : rows) {
    csv += fmt::format("{},compute,{},{},{},{},0,0,{},{},{},{:.1f},64,{}\n", row.name,
                       row.compute + row.exchange + row.sync + row.wait, row.compute, row.exchange,
                       row.sync, row.wait, row.last_tile, row.most, row.mean, row.flops);
  }
  const config::Json report = {
      {"config", {{"machine", {{"name", "bow"}}}, {"workload", {{"kernel", "toy"}}}}},
      {"time", {{"host_cycles", host_cycles}}},
      {"rate", {{"peak_type", peak_type}}}};
  return {"", report, report::parse_table(csv, "steps.csv", {}), {}, {}, {}, {}};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("supersteps of one name make a phase, longest first, with sums and critical tile") {
    const report::RunFolder run = run_of({{"load", 10, 60, 5, 0, 3, 12, 8, 0},
                                          {"multiply", 100, 20, 5, 0, 7, 110, 50, 4000},
                                          {"multiply", 90, 20, 5, 0, 2, 90, 50, 4000},
                                          {"multiply", 50, 20, 5, 0, 2, 50, 50, 4000}});
    const Analysis found = analyse(run);
    REQUIRE(found.phases.size() == 2);
    const Phase& multiply = found.phases[0];
    CHECK(multiply.name == "multiply");
    CHECK(multiply.supersteps == 3);
    CHECK(multiply.parts.compute == 240);
    CHECK(multiply.parts.total() == 315);
    CHECK(multiply.imbalance() == doctest::Approx(250.0 / 150));
    CHECK(multiply.critical_tile == 2);  // 115 + 75 cycles, against 125 of tile 7
    CHECK(multiply.critical_cycles == 190);
    CHECK(multiply.bound == Bound::compute);
    CHECK(multiply.exchange_bytes == 192);
    CHECK(found.phases[1].bound == Bound::exchange);
    CHECK(found.whole.parts.total() == 390);
    CHECK(found.largest == std::vector<std::size_t>{1, 2, 0});  // 75 cycles: the first of two
  }

  TEST_CASE("the bound is the largest part; computing that only moves bytes is memory") {
    CHECK(analyse(run_of({{"a", 9, 8, 1, 0, 0, 9, 9, 1}})).whole.bound == Bound::compute);
    CHECK(analyse(run_of({{"a", 9, 8, 1, 0, 0, 9, 9, 0}})).whole.bound == Bound::memory);
    CHECK(analyse(run_of({{"a", 9, 8, 1, 0, 0, 9, 9, 1}}, "bytes")).whole.bound == Bound::memory);
    CHECK(analyse(run_of({{"a", 1, 2, 3, 0, 0, 9, 9, 1}})).whole.bound == Bound::sync);
    CHECK(analyse(run_of({{"a", 1, 2, 3, 9, 0, 9, 9, 1}})).whole.bound == Bound::wait);
  }

  TEST_CASE("the text names phases, critical tiles and the three largest supersteps") {
    const report::RunFolder run = run_of(
        {{"load", 10, 60, 5, 0, 3, 12, 8, 0}, {"multiply", 100, 20, 5, 0, 7, 110, 50, 4000}});
    const std::string text = report::top(run, analyse(run));
    CHECK(text.find("toy on bow: 200 cycles in 2 supersteps, compute bound") == 0);
    CHECK(test::holds(text, "largest supersteps"));
    const std::size_t multiply = text.find("  multiply ");
    REQUIRE(multiply != std::string::npos);
    CHECK(multiply < text.find("  load "));
    const report::RunFolder none = run_of({});
    CHECK(report::top(none, analyse(none)) == "no superstep was measured\n");
  }

  TEST_CASE("the host's transfers before and after the program are a phase of no superstep") {
    const report::RunFolder run =
        run_of({{"multiply", 100, 20, 5, 0, 7, 110, 50, 4000}}, "f16", 375);
    const Analysis found = analyse(run);
    CHECK(found.whole.parts.host == 375);
    CHECK(found.whole.parts.total() == 500);
    CHECK(found.whole.bound == Bound::host);
    CHECK(found.whole.supersteps == 1);
    REQUIRE(found.phases.size() == 2);
    CHECK(found.phases[0].kind == "host");
    CHECK(found.phases[0].supersteps == 0);
    CHECK(found.phases[0].parts.total() == 375);
    const std::string text = report::top(run, found);
    CHECK(text.find("toy on bow: 500 cycles in 1 superstep, host bound") == 0);
    CHECK(test::holds(text, "host, before and after     375  75.0"));
  }

  TEST_CASE("nodes that go on by themselves are bound by the host where it takes most") {
    report::RunFolder run = run_of({{"load", 10, 60, 5, 0, 3, 12, 8, 0}});
    run.report["stages"] = config::Json::object();
    run.report["config"]["machine"]["fabric"]["kind"] = "streams";
    run.report["config"]["machine"]["tiles"] = 1;
    run.tiles = report::parse_table("tile,compute_cycles\n0,10\n", "tiles.csv", {});
    const auto bound = [&run](double compute, double exchange, double host) {
      run.report["time"] = {{"compute_cycles", compute}, {"exchange_cycles", exchange},
                            {"sync_cycles", 0},          {"link_cycles", 0},
                            {"host_cycles", host},       {"wait_cycles", 1}};
      return analyse(run).whole.bound;
    };
    CHECK(bound(10, 5, 11) == Bound::host);
    CHECK(bound(10, 5, 9) == Bound::compute);
    CHECK(bound(10, 20, 11) == Bound::exchange);
  }

  TEST_CASE("the columns of the text stand below each other, however long the names are") {
    const report::RunFolder run =
        run_of({{"weights of the second layer for the first image", 10, 60, 5, 0, 3, 12, 8, 0},
                {"multiply", 100, 20, 5, 0, 7, 110, 50, 4000}});
    const std::string text = report::top(run, analyse(run));
    std::vector<std::size_t> ends;
    for (const char* cell : {"  bound ", "  exchange ", "  compute "}) {
      const std::size_t at = text.find(cell, text.find("\n\n"));
      REQUIRE(at != std::string::npos);
      ends.push_back(at - text.rfind('\n', at));
    }
    CHECK(ends[1] == ends[0]);
    CHECK(ends[2] == ends[0]);
  }
}
