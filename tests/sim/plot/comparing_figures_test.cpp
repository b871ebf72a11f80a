#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"
#include "sim/plot/figure.h"
#include "sim/plot/quantity.h"
#include "tests/refusal.h"
#include "tests/sim/plot/samples.h"

using namespace tessera;
using namespace tessera::plot;
using test::check_holds;
using test::holds;
using test::request;
using test::runs;

TEST_SUITE("unit") {
  TEST_CASE("parallel axes have a line a run, the best one last") {
    const Source source = runs({"n", "type"}, {{1, "f16", 10}, {3, "f32", 30}});
    CHECK(parallel(source, {}).csv ==
          "axis,place,time.cycles,name,value\n"
          "0,1,30,n,3\n1,1,30,type,f32\n2,1,30,time.cycles,30\n\n"
          "0,0,10,n,1\n1,0,10,type,f16\n2,0,10,time.cycles,10\n\n");
    CHECK_THROWS_AS(parallel(source, request("n")), UserError);
    // A few values become tick labels of their axis, unless they overlap.
    const Source swept = runs({"n"}, {{1, 10}, {4, 11}, {16, 30}});
    check_holds(parallel(swept, {}).script,
                {"set label '1' at first 0,0 ", "set label '4' at first 0,0.2 ",
                 "set label '16' at first 0,1 ", "set label '20' at first 1,0.5 "});
  }

  TEST_CASE("the speed-up is the baseline's time over a run's, where other axes agree") {
    // The baseline lacks the axis block.
    const Source source = runs({"kernel", "n", "block"}, {{"dense", 1, nullptr, 100},
                                                          {"dense", 2, nullptr, 300},
                                                          {"sparse", 1, 4, 50},
                                                          {"sparse", 2, 4, 100},
                                                          {"sparse", 3, 4, 100}});
    Request wanted{.x = "n", .y = {"time.cycles"}, .baseline = {"kernel=dense"}};
    CHECK(speedup(source, wanted).csv == "n,\n1,2\n2,3\n");
    wanted.y = {"rate.useful_flops_per_second"};
    CHECK(speedup(source, wanted).csv == "n,\n1,2\n2,3\n");
    wanted.baseline = {"kernel=none"};
    CHECK_THROWS_AS(speedup(source, wanted), UserError);
  }

  TEST_CASE("a speed-up begins at the first of a resource, with the line of ideal scaling") {
    const Source source = runs({"machine.tiles", "type"}, {{64, "f32", 100},
                                                           {16, "f32", 300},
                                                           {16, "f16", 200},
                                                           {64, "f16", 50},
                                                           {8, "f8", 50},
                                                           {4, "f16", 800}});
    // 4 tiles are not the base: most runs have no counterpart on 4 tiles.
    const Figure first = speedup(source, {});
    CHECK(first.csv == "machine.tiles,f32,f16\n4,,0.25\n16,1,1\n64,3,4\n");
    check_holds(first.script, {"set ylabel 'speed-up over machine.tiles\u00a0=\u00a016'",
                               "'+' using (x):(x/16) with lines", "title 'ideal'"});
    CHECK(first.remarks ==
          std::vector<std::string>{
              "speedup: over machine.tiles = 16: --baseline path=value chooses another base",
              "left out: 1 point without a run of machine.tiles = 16 that is else the same"});
    Request wanted{.baseline = {"machine.tiles=64"}};
    const Figure second = speedup(source, wanted);
    CHECK(second.csv.starts_with("machine.tiles,f32,f16\n4,,0.0625\n16,0.333"));
    CHECK(holds(second.script, "(x/64)"));
    CHECK(second.remarks.size() == 1);
    // A larger problem is not a resource.
    const Source problems = runs({"workload.n"}, {{1, 10}, {2, 30}});
    CHECK_FALSE(holds(speedup(problems, {}).script, "ideal"));
    // Less memory is a gain, not a speed-up.
    wanted = request("machine.tiles", "memory.max_tile_bytes");
    CHECK(holds(speedup(source, wanted).script,
                "set ylabel 'gain in max tile memory over machine.tiles\u00a0=\u00a016'"));
  }

  TEST_CASE("bars are named by files without their folders, where these tell them apart") {
    const auto script = [](const char* first, const char* second) {
      return bars(runs({"a"}, {{first, 1}, {second, 2}}), {}).script;
    };
    check_holds(script("/data/x.npy", "/data/y.npy"), {"('x.npy' 0, 'y.npy' 1)"});
    check_holds(script("/one/x.npy", "/two/x.npy"), {"('/one/x.npy' 0, '/two/x.npy' 1)"});
  }

  TEST_CASE("axes that are swept together are one: in a speed-up's base, and below a figure") {
    const Source source = runs({"m", "n"}, {{1, 4, 100}, {2, 8, 50}, {3, 12, 25}});
    const Figure figure = speedup(source, request("n", "time.cycles"));
    CHECK(figure.csv == "n,\n4,1\n8,2\n12,4\n");
    CHECK(figure.remarks.size() == 1);  // no remark about omitted runs
    CHECK(holds(figure.script, "set xlabel 'n, with m'"));
    CHECK(holds(lines(source, request("m", "time.cycles")).script, "set xlabel 'm, with n'"));
  }

  TEST_CASE("a baseline stands beside all values of an axis that its part of the sweep lacks") {
    // Its config nevertheless says 4 tiles.
    const Source source =
        runs({"kernel", "n", "machine.tiles"},
             {{"sparse", 1, 8, 25}, {"sparse", 2, 8, 10}, {"dense", 1, 100}, {"dense", 2, 100}});
    Request wanted{.x = "n", .y = {"time.cycles"}, .baseline = {"kernel=dense"}};
    CHECK(speedup(source, wanted).csv == "n,\n1,4\n2,10\n");
  }

  TEST_CASE("the speed-up at the best of an axis compares each one's own best") {
    // Cycles / n: dense 40, 30, 35; sparse 25, 30, 20 (block 4), 10 (block 16).
    const Source source = runs({"kernel", "n", "block"}, {{"dense", 1, nullptr, 40},
                                                          {"dense", 2, nullptr, 60},
                                                          {"dense", 4, nullptr, 140},
                                                          {"sparse", 1, 4, 25},
                                                          {"sparse", 2, 4, 60},
                                                          {"sparse", 4, 4, 80},
                                                          {"sparse", 2, 16, 20}});
    Request wanted{
        .x = "block", .y = {"time.cycles / n"}, .baseline = {"kernel=dense"}, .best = {"n"}};
    Source best = source;
    derive(best.rows, wanted.y.front(), "--y");
    best.rows = best_over(best.rows, wanted.best, wanted.y.front());
    const Figure figure = speedup(best, wanted);
    CHECK(figure.csv == "block,,best n\n4,1.5,4\n16,3,2\n");
    CHECK(holds(figure.script, "set ylabel 'speed-up over dense, best n of each'"));
  }

  TEST_CASE("the Pareto front holds what no other run beats in both quantities") {
    const Source source = runs({"n"}, {{1, 40}, {2, 20}, {3, 30}, {4, 5}});
    // Lower n and fewer cycles are better.
    CHECK(pareto(source, request("n")).csv ==
          "n,time.cycles,best,named,run\n1,40,1,1,n 1\n2,20,1,1,n 2\n3,30,0,0,n 3\n4,5,1,1,n 4\n");
    // A higher rate is better: the same runs are best.
    const Figure rate = pareto(source, request("n", "rate.useful_flops_per_second"));
    CHECK(holds(rate.script, "(GFLOP/s), more is better"));
    CHECK(holds(rate.csv, "3,133333333333.33333,0,0,n 3\n"));
  }

  TEST_CASE("each value of --by has a Pareto front of its own") {
    // For f16 the first run dominates all others; for f32 no run of f16 competes.
    const Source source =
        runs({"n", "k", "type"},
             {{1, 1, "f16", 10}, {2, 2, "f16", 20}, {3, 3, "f32", 40}, {4, 4, "f32", 30}});
    Request wanted{.x = "n", .y = {"time.cycles"}, .by = {"type"}};
    const Figure figure = pareto(source, wanted);
    CHECK(figure.csv ==
          "n,time.cycles,best,named,run,front,by\n"
          "1,10,1,1,\"n 1, k 1\",0,f16\n2,20,0,0,\"n 2, k 2\",0,f16\n"
          "3,40,1,1,\"n 3, k 3\",1,f32\n4,30,1,1,\"n 4, k 4\",1,f32\n");
    check_holds(figure.script, {"set key title 'type'", "title 'f16'", "title 'f32'"});
  }

  TEST_CASE("a Pareto front of different problems says so, one of one problem does not") {
    Source source =
        runs({"workload.n", "machine.tiles", "workload.plan.k"}, {{1, 1, 1, 10}, {2, 2, 2, 20}});
    Request wanted = request("machine.tiles");
    CHECK(pareto(source, wanted).remarks ==
          std::vector<std::string>{"pareto: different problems compete in one front (workload.n "
                                   "varies): --by workload.n draws a front for each, --where "
                                   "chooses one"});
    wanted.by = {"workload.n"};
    CHECK(pareto(source, wanted).remarks.empty());
    for (Row& row : source.rows.rows) row.axes["workload.n"] = 1;
    wanted.by.clear();
    CHECK(pareto(source, wanted).remarks.empty());
  }

  TEST_CASE("the roofline has the machine's roofs and a point a run") {
    const Source source = runs({"n"}, {{1, 40}, {2, 20}});
    const Figure figure = roofline(source, {});
    // 4000 operations per 1000 bytes of exchange, and per 100 bytes of memory. Each of 4 tiles
    // executes 2 * 64 operations a cycle in the matrix unit or 8 by an instruction; together they
    // exchange 16 bytes a cycle and access 96 bytes of memory.
    CHECK(figure.csv ==
          "flops_per_byte,useful_flops_per_second,bytes_of,series\n"
          "4,100000000000,exchange,\n40,100000000000,local memory,\n"
          "4,200000000000,exchange,\n40,200000000000,local memory,\n");
    check_holds(figure.script, {"'matrix f16 512 GFLOP/s'", "'vector f16 32 GFLOP/s'",
                                "'exchange 16 GB/s'", "'local memory 96 GB/s'"});
    // Without counted bytes the workload's own are used; without either only the exchange is shown.
    Source stated = source;
    for (Row& row : stated.rows.rows) {
      row.report.erase("energy");
      row.report["rate"]["useful_bytes_per_second"] = 1e9;
      row.report["time"]["seconds"] = 8e-6;
    }
    CHECK(holds(roofline(stated, {}).csv, "0.5,100000000000,local memory,"));
    for (Row& row : stated.rows.rows) row.report["rate"].erase("useful_bytes_per_second");
    CHECK_FALSE(holds(roofline(stated, {}).csv, "local memory"));
    Source different = source;
    different.rows.rows[1].report["config"]["machine"]["tiles"] = 8;
    CHECK_THROWS_AS(roofline(different, {}), UserError);
  }

  TEST_CASE("a roofline of runs on integers counts these, under the roofs of integers") {
    Source source = runs({"n"}, {{1, 40}, {2, 20}});
    const auto on_integers = [](Row& row) {
      row.report["work"]["useful_flops"] = 0;
      row.report["time"]["seconds"] = row.report["time"]["cycles"].get<double>() / 1e9;
      row.report["rate"] = {{"useful_flops_per_second", 0.0},
                            {"useful_integer_operations_per_second",
                             8000e9 / row.report["time"]["cycles"].get<double>()}};
      row.report["config"]["machine"]["tile"]["matrix_unit"]["i8"] = {
          {"inputs", 8}, {"outputs", 8}, {"interval", 1}};
    };
    on_integers(source.rows.rows[1]);
    try {
      roofline(source, {});
      FAIL("a figure of two units");
    } catch (const UserError& refused) {
      CHECK(holds(refused.what(), "integers (OP)"));
    }
    on_integers(source.rows.rows[0]);
    const Figure figure = roofline(source, {});
    // 8000 operations; each of 4 tiles executes 2 x 4 x 8 x 8 a cycle in its unit.
    CHECK(figure.csv ==
          "operations_per_byte,useful_integer_operations_per_second,bytes_of,series\n"
          "8,200000000000,exchange,\n80,200000000000,local memory,\n"
          "8,400000000000,exchange,\n80,400000000000,local memory,\n");
    check_holds(figure.script, {"'matrix i8 2.05 TOP/s'", "useful rate (OP/s)"});
    CHECK_FALSE(holds(figure.script, "FLOP"));
  }

  TEST_CASE("a tornado has the keys that move a metric, strongest first, a bar for each end") {
    const plot::Json stored = config::parse_json(R"json({"heading": "k on m", "by": 2,
      "simulated": false, "time": 8.0, "energy": 2.0, "area": null, "keys": [
      {"key": "machine.weak", "unit": "", "value": 3, "low": null,
       "high": {"value": 6, "time": 8.8, "energy": 2.0, "area": null, "replanned": false}},
      {"key": "machine.idle", "unit": "", "value": 3, "low": null,
       "high": {"value": 6, "time": 8.0, "energy": 3.0, "area": null, "replanned": false}},
      {"key": "machine.strong", "unit": "cycles (barrel: slots)", "value": 4,
       "low": {"value": 2, "time": 4.0, "energy": 2.0, "area": null, "replanned": true},
       "high": {
  "value" : 8, "time" : 12.0, "energy" : 2.0, "area" : null, "replanned" : false}}]
  })json",
                                                 "test");
    Source source;
    source.rows.origin = "folder";
    source.sensitivity = &stored;
    const Figure figure = tornado(source, {});
    CHECK(figure.csv ==
          "key,low_ratio,low_plan,high_ratio,high_plan\n"
          "strong = 4 cycles,0.5,*,1.5,\nweak = 3,NaN,,1.1,\n");
    check_holds(figure.script, {"set title 'k on m'", "'-50 %%' 0.5", "'+100 %%' 2"});
    Request energy{.y = {"energy"}};
    CHECK(tornado(source, energy).csv ==
          "key,low_ratio,low_plan,high_ratio,high_plan\nidle = 3,NaN,,1.5,\n");
    energy.y = {"area"};
    CHECK_THROWS_WITH_AS(static_cast<void>(tornado(source, energy)),
                         "folder: tornado: area is not known there", UserError);
    energy.y = {"tme"};
    CHECK_THROWS_WITH_AS(static_cast<void>(tornado(source, energy)),
                         "tessera plot: --y: found tme, allowed one of time, energy, area; did you "
                         "mean time?",
                         UserError);
  }
}
