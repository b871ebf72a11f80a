#include "sim/plot/figure.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"
#include "sim/plot/quantity.h"
#include "sim/plot/rows.h"
#include "sim/plot/script.h"
#include "tests/refusal.h"
#include "tests/sim/plot/samples.h"

using namespace tessera;
using namespace tessera::plot;
using test::check_holds;
using test::holds;
using test::request;
using test::runs;

namespace {

/// One run in a run folder, with these results.
struct OneRun {
  report::RunFolder folder;
  Source source = runs({"n"}, {{1, 60}});

  explicit OneRun(const char* results = "null") {
    folder.folder = "r";
    set(results);
    source.run = &folder;
  }
  void set(const char* results) { folder.report = {{"results", Json::parse(results)}}; }
};

const Source& grid() {
  static const Source kGrid =
      runs({"n", "type"}, {{16, "f32", 40}, {4, "f32", 20}, {4, "f16", 10}, {1, "f16", 5}});
  return kGrid;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("lines have a column a series, rows in order of x, and gaps where no run is") {
    const Figure figure = lines(grid(), {});
    CHECK(figure.csv == "n,f32,f16\n1,,5\n4,20,10\n16,40,\n");
    check_holds(figure.script, {"set logscale x\n", "set xtics ('1' 1, '4' 4, '16' 16)",
                                "set key title 'type'", "set yrange [0:40]"});
  }

  TEST_CASE("values far apart get a logarithmic axis, unless told otherwise") {
    const Source source = runs({"n"}, {{1, 10}, {2, 100}, {3, 100000}});
    CHECK(holds(lines(source, {}).script, "set logscale y"));
    CHECK_FALSE(holds(lines(source, {}).script, "set logscale x"));
    Request told{.log = "x"};
    CHECK(holds(lines(source, told).script, "set logscale x"));
    CHECK_FALSE(holds(lines(source, told).script, "set logscale y"));
  }

  TEST_CASE("axes have round marks, each exact") {
    CHECK(number_marks(0, 2500000) ==
          "'0' 0, '500k' 500000, '1M' 1000000, '1.5M' 1500000, "
          "'2M' 2000000, '2.5M' 2500000");
    CHECK(number_marks(18010, 18060) ==
          "'18.01k' 18010, '18.015k' 18015, '18.02k' 18020, '18.025k' 18025, '18.03k' 18030, "
          "'18.035k' 18035, '18.04k' 18040, '18.045k' 18045, '18.05k' 18050, '18.055k' 18055, "
          "'18.06k' 18060");
    CHECK(linear_axis("y", 7.4, {}).script ==
          "set yrange [0:8]\nset ytics ('0' 0, '1' 1, '2' 2, '3' 3, '4' 4, "
          "'5' 5, '6' 6, '7' 7, '8' 8)\n");
    CHECK(linear_axis("y", 0, {}).script.starts_with("set yrange [0:1]"));
    CHECK(log_numbers(1, 1000, 10) ==
          std::vector<double>{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000});
    CHECK(log_numbers(1, 1000, 4) == std::vector<double>{1, 10, 100, 1000});
    CHECK(log_numbers(1, 1e9, 3) == std::vector<double>{1, 1e3, 1e6, 1e9});
  }

  TEST_CASE("an axis that follows from x tells no lines apart") {
    const Source source = runs({"m", "k"}, {{1, 1, 10}, {2, 2, 20}});
    CHECK(lines(source, request("m")).csv == "m,\n1,10\n2,20\n");
  }

  TEST_CASE("two runs at one place are refused, naming what else varies") {
    const Source source =
        runs({"n", "seed", "type"}, {{1, 1, "f16", 10}, {1, 2, "f16", 11}, {2, 2, "f32", 20}});
    Request by{.x = "n", .y = {"time.cycles"}, .by = {"type"}};
    CHECK_THROWS_WITH_AS(lines(source, by),
                         "runs: several runs have n = 1 of f16; give --by or --where for seed",
                         UserError);
  }

  TEST_CASE("bars take texts as groups") {
    const Figure figure = bars(grid(), request("type"));
    CHECK(figure.csv == "type,1,4,16\nf32,,20,40\nf16,5,10,\n");
    CHECK(holds(figure.script, "set xtics scale 0 ('f32' 0, 'f16' 1)"));
  }

  TEST_CASE("parts of a section stand on top of each other") {
    Source source = runs({"n"}, {{1, 10}, {2, 20}});
    for (Row& row : source.rows.rows)
      row.report["stalls"] = {{"issued", 3}, {"load", 4}, {"codelets", Json::array()}};
    Request wanted = request("n", "stalls");
    const Figure figure = stacked(source, wanted);
    CHECK(figure.csv == "n,issued,load\n1,3,4\n2,3,4\n");
    check_holds(figure.script, {"(0+$2*1+$3*1) with boxxyerror", "set yrange [0:7]"});
    wanted.y = {"nonsense"};
    CHECK_THROWS_AS(stacked(source, wanted), UserError);
  }

  TEST_CASE("quantities that are not parts of the time are not stacked on them") {
    Source source = runs({"n"}, {{1, 10}, {2, 20}});
    for (Row& row : source.rows.rows)
      row.report["time"] = {{"cycles", 10},          {"compute_cycles", 6},
                            {"exchange_cycles", 4},  {"external_cycles", 3},
                            {"port_wait_cycles", 1}, {"mean_overlapped_cycles", 5}};
    CHECK(stacked(source, request("n", "time")).csv == "n,compute,exchange\n1,6,4\n2,6,4\n");
  }

  TEST_CASE("stacked bars stand in groups, one for each value of --by") {
    Source source = runs({"density", "n"}, {{0.5, 4, 10}, {0.25, 4, 20}, {0.25, 2, 30}});
    for (Row& row : source.rows.rows) {
      const double cycles = row.report["time"]["cycles"];
      row.report["time"] = {{"cycles", cycles}, {"compute_cycles", cycles - 4}, {"sync_cycles", 4}};
    }
    source.rows.left_out = {{{{"density", 0.5}, {"n", 2}}, {}, "failed", "does not fit"}};
    Request wanted{.x = "density", .y = {"time"}, .by = {"n"}};
    const Figure figure = stacked(source, wanted);
    CHECK(figure.csv == "density,n,compute,sync\n1/4,2,26,4\n1/4,4,16,4\n1/2,2,,\n1/2,4,6,4\n");
    // Group names are below the bars' names.
    CHECK(holds(figure.script, "set xlabel 'density; bars: n'"));
    check_holds(figure.script,
                {"($0+0.8*floor($0/2))", "set label '1/4' at screen ",
                 "set label '' at first 2.8,graph 0.03 point pt 2", "title 'cannot run'"});
    CHECK(figure.remarks.empty());
    // Without --by, the varying axes distinguish the bars of a group.
    wanted.by.clear();
    CHECK(stacked(source, wanted).csv == figure.csv);
  }

  TEST_CASE("bars too narrow for names are named in order, too many are refused") {
    std::vector<std::vector<Json>> points;
    points.reserve(60);
    for (int n = 0; n < 60; ++n) points.push_back({n % 3, n / 3, 10});
    const Source source = runs({"d", "n"}, points);
    Request wanted{.x = "d", .y = {"time.cycles"}, .by = {"n"}};
    wanted.sheet.width = 3.3;
    CHECK(holds(stacked(source, wanted).remarks.at(0), "from left to right 0, 1, 2, 3, "));
    wanted.sheet.width = 2;
    CHECK_THROWS_AS(stacked(source, wanted), UserError);
  }

  TEST_CASE("runs compare in seconds where their clocks differ, each beside the first") {
    Source source = runs({}, {{4000}, {4000}, {1000}});
    const char* const names[] = {"slow", "fast", "small"};
    for (std::size_t i = 0; i < 3; ++i) {
      Json& report = source.rows.rows[i].report;
      report["time"] = {{"cycles", report["time"]["cycles"]},
                        {"compute_cycles", report["time"]["cycles"].get<double>() - 600},
                        {"exchange_cycles", 600}};
      report["config"]["machine"]["name"] = names[i];
    }
    CHECK(comparison(source, {}).csv ==
          "run,compute,exchange\nslow,3400,600\nfast,3400,600\nsmall,400,600\n");
    CHECK(comparison(source, {}).remarks.empty());
    source.rows.rows[1].report["config"]["machine"]["clock_ghz"] = 2.0;
    const Figure figure = comparison(source, {});
    CHECK(figure.csv ==
          "run,compute,exchange\nslow,3.4e-06,6e-07\nfast,1.7e-06,3e-07\nsmall,4e-07,6e-07\n");
    check_holds(figure.script, {"set ylabel 'time (µs)'", "set label '0.50x' at first 1,first 2 ",
                                "set label '0.25x' at first 2,first 1 "});
    CHECK(
        figure.remarks ==
        std::vector<std::string>{
            "comparison: clocks differ (slow 1 GHz; fast 2 GHz; small 1 GHz): cycles are drawn as "
            "seconds"});
    Request wanted{.y = {"time.cycles"}};
    CHECK(comparison(source, wanted).csv == "run,time\nslow,4e-06\nfast,2e-06\nsmall,1e-06\n");
    wanted.y = {"memory.max_tile_bytes"};
    CHECK(comparison(source, wanted).csv == "run,max tile memory\nslow,100\nfast,100\nsmall,100\n");
  }

  TEST_CASE("runs of one machine are named by what tells them apart") {
    const Source source = runs({"workload.n", "machine.tiles"}, {{1, 2, 10}, {1, 4, 10}});
    Request wanted{.y = {"time.cycles"}};
    CHECK(comparison(source, wanted).csv == "run,time\ntiles 2,10\ntiles 4,10\n");
    // With all varying axes, in a frame with space for the first bar's name.
    const auto left = [](const std::string& n) {
      std::vector<std::vector<Json>> points;
      for (const int m : {1, 2, 3, 4, 5, 6}) points.push_back({n, m, 10});
      const Source named = runs({"workload.n", "workload.m"}, points);
      const std::string script =
          comparison(named, {.y = {"time.cycles"}, .by = {"workload.n", "workload.m"}}).script;
      return std::stod(script.substr(script.find("set lmargin at screen ") + 22));
    };
    CHECK(left("short") < left("a long name is turned"));
    const Source all = runs({"workload.n", "workload.m", "workload.k"},
                            {{1, 2, 3, 10}, {1, 2, 4, 10}, {1, 3, 3, 10}, {1, 3, 4, 10}});
    CHECK(holds(comparison(all, wanted).csv, "run,time\n\"m 2, k 3\",10\n"));
  }

  TEST_CASE("a heat map has a cell for each pair of values, NaN where no run is") {
    const Figure figure = heatmap(grid(), request("n"));
    CHECK(figure.csv ==
          "n,series,column,row,value,bright,infeasible,text\n"
          "1,f32,0,0,NaN,0,0,\n4,f32,1,0,20,0,0,20.0\n16,f32,2,0,40,1,0,40.0\n"
          "1,f16,0,1,5,0,0,5.0\n4,f16,1,1,10,0,0,10.0\n16,f16,2,1,NaN,0,0,\n");
    const Source one = runs({"n"}, {{1, 10}, {2, 20}});
    CHECK_THROWS_AS(heatmap(one, {}), UserError);
  }

  TEST_CASE("points that cannot run have a cross in their cell, those that no one asked for none") {
    Source source = grid();
    source.rows.left_out = {{{{"n", 1}, {"type", "f32"}}, {}, "failed", "it does not fit"},
                            {{{"n", 2}, {"type", "f32"}}, {}, "wrong", "the result is wrong"},
                            {{{"n", 64}, {"type", "f16"}}, {}, "failed", "no such block"}};
    const Figure figure = heatmap(source, request("n"));
    check_holds(figure.csv,
                {"1,f32,0,0,NaN,0,1,\n", "64,f16,3,1,NaN,0,1,\n", "64,f32,3,0,NaN,0,0,\n"});
    CHECK(holds(figure.script, "title 'cannot run'"));
    CHECK_FALSE(holds(heatmap(grid(), request("n")).script, "cannot run"));
    CHECK(holds(bars(source, request("n")).script, "title 'cannot run'"));
  }

  TEST_CASE("colours are logarithmic where values lie far apart, or are told to be") {
    const Source source = runs({"n", "k"}, {{1, 1, 1}, {2, 2, 1000}});
    Request wanted{.x = "n", .y = {"time.cycles"}, .by = {"k"}};
    CHECK(holds(heatmap(source, wanted).script, "set logscale cb"));
    wanted.log = "none";
    CHECK_FALSE(holds(heatmap(source, wanted).script, "set logscale cb"));
    wanted = request("n");
    wanted.log = "z";
    CHECK(holds(heatmap(grid(), wanted).script, "set logscale cb"));
  }

  TEST_CASE("zero has a place at the beginning of a logarithmic axis, numbers below it none") {
    Source source = runs({"n"}, {{0, 10}, {1, 0}, {100, 1000}});
    Request wanted{.x = "n", .y = {"time.cycles"}, .log = "xy"};
    const Figure figure = lines(source, wanted);
    CHECK(holds(figure.csv, "0,10\n1,0\n"));
    check_holds(figure.script,
                {"set xtics ('0' 0.5, '1' 1, '100' 100)", "($1==0?0.5:$1):($2==0?5:$2)"});
    CHECK_FALSE(holds(figure.script, "inf"));
    source.rows.rows[1].axes["n"] = -1;
    CHECK_THROWS_AS(lines(source, wanted), UserError);
    const Source nothing = runs({"n", "k"}, {{0, 10}, {0, 1, 10}});
    CHECK_THROWS_AS(lines(nothing, wanted), UserError);
  }

  TEST_CASE("quantities on one axis have one unit") {
    Request wanted{.x = "n", .y = {"time.cycles", "memory.max_tile_bytes"}, .by = {"type"}};
    CHECK_THROWS_WITH_AS(lines(grid(), wanted),
                         "tessera plot: --y: found time (cycles) and max tile memory (B), allowed "
                         "quantities of one unit on one axis",
                         UserError);
  }

  TEST_CASE("headings are those that the user gives, and none if they are empty") {
    Request wanted{.title = "", .xlabel = "columns of B"};
    const Figure figure = lines(grid(), wanted);
    CHECK(holds(figure.script,
                "set title ''\nset xlabel 'columns of B'\nset ylabel 'time (cycles)'\n"));
    wanted.title = "B's";
    CHECK(holds(lines(grid(), wanted).script, "set title 'B''s'\n"));
    wanted.title = R"('"`\')";  // gnuplot cannot parse a text that begins with a quote
    CHECK(holds(lines(grid(), wanted).script, R"(set title "'\042\140\134'")"));
  }

  TEST_CASE("a random sweep is a cloud of points, a grid and a walk along its axes are not") {
    Source random =
        runs({"n", "k"}, {{1, 7, 1}, {2, 3, 2}, {3, 9, 3}, {4, 1, 4}, {5, 8, 5}, {6, 2, 6}});
    CHECK(is_scattered(random.rows));
    CHECK_FALSE(is_scattered(grid().rows));
    CHECK(scatter(random, {}).csv.starts_with("k,time.cycles,n,series\n7,1,1,0\n3,2,2,1\n"));
    int k = 0;
    for (Row& row : random.rows.rows) {
      ++k;
      row.axes["k"] = k * k;
    }
    CHECK_FALSE(is_scattered(random.rows));
  }

  TEST_CASE("a superstep is drawn as exchange, computing and then its barrier") {
    OneRun run;
    run.folder.steps = report::parse_table(
        "name,start_cycle,cycles,compute_cycles,exchange_cycles,sync_cycles,link_cycles,"
        "host_cycles,wait_cycles\nfirst,100,60,30,20,4,0,0,6\n",
        "steps.csv", {});
    CHECK(timeline(run.source, {}).csv ==
          "superstep,supersteps,lane,part,start_cycle,end_cycle\n"
          "0,1,0,wait,0,6\n0,1,1,exchange,6,26\n0,1,2,compute,26,56\n0,1,3,sync,56,60\n");
  }

  TEST_CASE("the supersteps of the busiest of several zones are drawn") {
    OneRun run;
    run.folder.steps = report::parse_table(
        "name,start_cycle,cycles,compute_cycles,exchange_cycles,sync_cycles,link_cycles,"
        "host_cycles,wait_cycles,zone\na,100,60,10,50,0,0,0,0,0\nb,104,20,20,0,0,0,0,0,1\n"
        "c,124,30,30,0,0,0,0,0,1\n",
        "steps.csv", {});
    const Figure figure = timeline(run.source, {});
    CHECK(figure.csv ==
          "superstep,supersteps,lane,part,start_cycle,end_cycle\n"
          "1,1,0,compute,0,20\n2,1,0,compute,20,50\n");
    CHECK(holds(figure.script, "supersteps of zone 1"));
  }

  TEST_CASE("marks of stages' cycles are told apart") {
    OneRun run;
    run.source.rows.rows[0].report["stages"]["product"] = {{"cycles", 1300},
                                                           {"compute_cycles", 900},
                                                           {"wait_cycles", 400},
                                                           {"streams", Json::object()}};
    run.folder.report = run.source.rows.rows[0].report;
    check_holds(stages(run.source, {}).script, {"'1k' 1000", "'1.2k' 1200"});
  }

  TEST_CASE("a matrix has places for nodes beside the tiles, and says which they are") {
    OneRun run;
    run.folder.traffic = report::parse_table(
        "from_tile,to_tile,tiles,bytes\n0,1,1,8\n0,2,1,4\n3,1,1,2\n", "test", {});
    run.folder.tiles.rows = 4;
    run.source.rows.rows[0].report["nodes"] = {{{"class", "memory"}, {"first_tile", 2}},
                                               {{"class", "ddr"}, {"first_tile", 3}}};
    const Figure figure = matrix(run.source, {});
    CHECK(figure.csv ==
          "from_tile,to_tile,row,column,bytes\n0,0,0,0,NaN\n0,1,0,1,8\n0,2,0,2,4\n0,3,0,3,NaN\n"
          "1,0,1,0,NaN\n1,1,1,1,NaN\n1,2,1,2,NaN\n1,3,1,3,NaN\n2,0,2,0,NaN\n2,1,2,1,NaN\n"
          "2,2,2,2,NaN\n2,3,2,3,NaN\n3,0,3,0,NaN\n3,1,3,1,2\n3,2,3,2,NaN\n3,3,3,3,NaN\n");
    CHECK(holds(figure.script, "to tile, 2 on: memory, 3 on: ddr"));
  }

  TEST_CASE("a training has an axis for accuracy only where it was counted, and one step a place") {
    OneRun run(R"({"loss": [2.5, 2.0], "accuracy": [0.1, 0.2]})");
    const Figure both = training(run.source, {});
    CHECK(both.csv == "step,loss,accuracy\n1,2.5,0.1\n2,2,0.2\n");
    check_holds(both.script, {"set y2range [0:1]", "data using 1:3 axes x1y2",
                              "set xrange [1:2]\nset xtics 1\n"});
    run.set(R"({"accuracy": [null], "speed": [7], "loss": [2.5]})");
    const Figure one = training(run.source, {});
    CHECK_FALSE(holds(one.script, "y2"));
    CHECK_FALSE(holds(one.script, "accuracy"));
    CHECK(one.csv == "step,accuracy,speed,loss\n1,nan,7,2.5\n");
    check_holds(one.script, {"data using 1:4 axes x1y1", "set xrange [0.5:1.5]"});
    run.set(R"({"loss": [null, null]})");
    CHECK_THROWS_AS(training(run.source, {}), UserError);
  }

  TEST_CASE("a raster has a band a layer, the few neurons of the last one apart") {
    OneRun run(R"({"raster": {"samples": 2, "of_samples": 3, "time_steps": 5, "left_out": 7,
      "layers": [{"layer": 0, "neurons": 90}, {"layer": 2, "neurons": 10}]}})");
    run.folder.raster = report::parse_table(
        "sample,layer,step,neuron\n0,0,1,89\n0,2,4,0\n0,2,4,9\n1,0,0,0\n", "raster.csv", {});
    const Figure figure = raster(run.source, {});
    CHECK(figure.csv ==
          "sample,layer,step,neuron,place\n0,0,1,89,0.895000\n0,2,4,0,0.926000\n"
          "0,2,4,9,1.034000\n");
    check_holds(figure.script, {"inputs", "layer 1", "2 of 3 samples written"});
    Request second{.sample = "1"};
    CHECK(raster(run.source, second).csv == "sample,layer,step,neuron,place\n1,0,0,0,0.005000\n");
    second.sample = "2";
    CHECK_THROWS_WITH_AS(raster(run.source, second),
                         "r/raster.csv: found no sample 2, allowed 0 to 1: the others are left "
                         "out, as results.raster says",
                         UserError);
  }
}
