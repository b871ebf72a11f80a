#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/drawn.h"

using namespace tessera::test;

namespace {

std::string with_sweep(const std::string& sweep) {
  return R"({"extends": "small.json", "sweep": )" + sweep + "}";
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a sweep runs every point once and writes its tables") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    const std::string call = "sweep small.json machine.tiles=1..3 workload.dtype=f16,f32 --out s";
    const Answer answer = folder.done(call + " --jobs 2");
    CHECK(answer.err.empty());
    CHECK(answer.out.starts_with("small: 6 points, 6 run now: 6 done\n"));
    const std::string csv = folder.read("s/results.csv");
    CHECK(csv.starts_with(
        "machine.tiles,workload.dtype,identity.problem,identity.machine,workload.worker_elements,"
        "workload.workers,time.cycles,"));
    CHECK(holds(csv, "\n2,f32,"));
    CHECK(csv.find("host") == csv.find("host_"));  // host_cycles is the only host column
    CHECK(lines(csv) == 7);
    CHECK(lines(folder.read("s/points.jsonl")) == 6);
    CHECK(lines(folder.read("s/results.jsonl")) == 6);
    // Again: nothing runs, nothing changes. With a longer axis only the new points run.
    CHECK(folder.call(call).out.starts_with("small: 6 points, 0 run now: 6 done\n"));
    CHECK(folder.read("s/results.csv") == csv);
    CHECK(folder.call("sweep small.json machine.tiles=1..5 workload.dtype=f16,f32 --out s")
              .out.starts_with("small: 10 points, 4 run now: 10 done\n"));
  }

  TEST_CASE("points that one process answers report what each does alone") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    folder.done(
        "sweep small.json machine.tile.sram_kib=64,256,624 workload.elements_per_worker=60,120 "
        "--timing --jobs 1 --out s --quiet");
    std::istringstream results(folder.read("s/results.jsonl"));
    for (std::string line; std::getline(results, line);) {
      Json swept = Json::parse(line);
      std::string sets;
      for (const auto& [path, value] : swept["axes"].items())
        sets += fmt::format(" --set {}={}", path, value.dump());
      folder.done("run small.json --timing --again --threads 1 --out r --quiet" + sets);
      Json run = folder.json("r/report.json");
      run.erase("host");
      swept["report"].erase("host");
      CHECK(swept["report"] == run);
    }
  }

  TEST_CASE("sweep --predict plans its points, and is not taken for a sweep that ran") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    const std::string call = "sweep small.json workload.elements_per_worker=60,120,60000 --out s";
    const Answer answer = folder.done(call + " --predict");
    CHECK(answer.out.starts_with("small: 3 points, 3 planned now: 2 predicted, 1 failed\n"));
    const std::string csv = folder.read("s/results.csv");
    CHECK(holds(csv, "prediction.seconds,"));
    CHECK(!holds(csv, "time.cycles"));
    CHECK(holds(csv, ",predicted,\n"));
    CHECK(holds(folder.call(call + " --predict").out, "3 points, 0 planned now"));
    check_refused(folder, call,
                  {"s/results.csv", "predicted points, allowed here one of simulated"});
    CHECK(holds(folder.call(call + " --replace").out, "3 points, 3 run now: 2 done, 1 failed"));
    check_refused(folder, call + " --predict", {"simulated points, allowed here one of predicted"});
    check_refused(folder, call + " --predict --slurm", {"--predict: found beside --slurm"});
  }

  TEST_CASE("sweep --timing computes every n-th point beside, and says how many") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    const Answer answer =
        folder.done("sweep small.json machine.tiles=1..5 --timing --compute-every 2 --out s");
    CHECK(holds(answer.out,
                "\n  timing    5 points without values, 3 of them computed beside, "
                "checked and found the same\n"));
    CHECK(lines(folder.read("s/results.csv")) == 6);
    check_refused(folder, "sweep small.json machine.tiles=1..5 --compute-every 2 --out t",
                  {"--compute-every: found without --timing, allowed with it"});
  }

  TEST_CASE("a figure of a predicted sweep is one of predicted time, and says so") {
    if (!has_gnuplot()) return;
    const CommandFolder folder{{"small.json", small_config(2)}};
    folder.done("sweep small.json workload.elements_per_worker=60,120 --out s --predict");
    folder.done("plot s --name f --format svg");
    CHECK(holds(folder.read("s/plots/f.svg"), "predicted time"));
    folder.done("report s --out page.html");
  }

  TEST_CASE("sweep --dry-run lists points, what is known of them and what is refused") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    const std::string sweep = "sweep small.json machine.tiles=";
    folder.done(sweep + "1,2 --out s --quiet");
    const std::set<std::string> before = folder.names();
    const Answer answer = folder.done(sweep + "1..3 --out s --dry-run");
    CHECK(answer.out.starts_with("done      "));
    check_holds(answer.out, {" machine.tiles=1\n", "\nto do     ",
                             "small: 3 points, 2 done, 1 to do; nothing was run or written"});
    CHECK(holds(folder.call(sweep + "1..3 --out s --dry-run --predict").out, "3 points, 3 to do;"));
    const Answer refused = folder.call(sweep + "0,1 --dry-run");
    CHECK(refused.code == 2);
    CHECK(holds(refused.out, "refused   tessera sweep: machine.tiles: found 0"));
    CHECK(refused.err == "tessera sweep: 1 point refused: the sweep would not begin\n");
    CHECK(folder.names() == before);
    check_refused(folder, sweep + "1", {"--out is required"});
  }

  TEST_CASE("a sweep of more than 1,000 points wants --yes; a terminal is asked") {
    const CommandFolder folder{{"small.json", small_config(1)}};
    const std::string call = "sweep small.json workload.seed=1..1100 --out s";
    check_refused(folder, call, {"small: found 1,100 points to simulate, allowed 1,000", "--yes"});
    folder.done(call + " --dry-run");
    // Counts only the shard's points.
    folder.done(call + " --shard 1/500");
    if (std::system("command -v script > /dev/null 2>&1") != 0) return;
    const std::string asked = fmt::format("cd {} && echo n | script -qefc '{} {}' said > /dev/null",
                                          folder.path().string(), TESSERA_PROGRAM, call);
    CHECK(std::system(asked.c_str()) != 0);
    check_holds(folder.read("said"),
                {"small: simulate 1,097 points? [y/N]", "not confirmed: nothing was run"});
  }

  TEST_CASE("a config's section sweep, with conditions, and axes of the command line") {
    const CommandFolder folder{{"small.json", small_config(2)},
                               {"s.json", with_sweep(R"({"grid": {"machine.tiles": [1, 2, 4]},
      "random": {"points": 3, "seed": 5, "axes": {"workload.elements_per_worker": "50..500"}},
      "where": ["machine.tiles * workload.elements_per_worker < 1500"]})")}};
    const Answer answer = folder.done("sweep s.json machine.tiles=1,2,100 --out s");
    CHECK(answer.out.starts_with("s: 6 points, 6 run now: 6 done\n"));
  }

  TEST_CASE("points that cannot run are rows with their message") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    const Answer answer = folder.done(
        "sweep small.json workload.elements_per_worker=60,60000 --out s --set "
        "run.max_cycles=2000");
    CHECK(
        answer.out.starts_with("small: 2 points, 2 run now: 1 done, 1 failed\n"
                               "  failed    workload.elements_per_worker=60000: the program does "
                               "not fit"));
    const std::string csv = folder.read("s/results.csv");
    CHECK(holds(csv, ",failed,"));
    CHECK(!holds(csv, "over by"));  // the table is only in results.jsonl
    CHECK(holds(folder.read("s/results.jsonl"), "over by"));
    const Answer stuck = folder.call(
        "sweep small.json workload.elements_per_worker=6000 --out t --set run.max_cycles=20");
    CHECK(holds(stuck.out, "0 done, 1 stuck"));
    CHECK(stuck.code == 3);
    const std::string both =
        "sweep small.json workload.elements_per_worker=60,60000 --out s --set ";
    CHECK(folder.call(both + "run.max_cycles=2000 --strict").code == 2);
  }

  TEST_CASE("a sweep does not replace the table of another one, unless told to") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    folder.done("sweep small.json machine.tiles=1,2 --out s --quiet");
    const std::string csv = folder.read("s/results.csv");
    for (const std::string other :
         {"machine.tiles=1", "machine.tiles=2,3", "machine.tiles=1,2 --set workload.seed=9"}) {
      const Answer answer = folder.call("sweep small.json " + other + " --out s");
      CHECK(answer.code == 2);
      CHECK(answer.err.find("s/results.csv: is the table of another sweep, with") == 0);
      CHECK(holds(answer.err, "--replace"));
      CHECK(folder.read("s/results.csv") == csv);
    }
    folder.done("sweep small.json machine.tiles=1,2,3 --out s --quiet");
    folder.done("sweep small.json machine.tiles=3 --out s --quiet --replace");
    CHECK(lines(folder.read("s/results.csv")) == 2);
  }

  TEST_CASE("shards together do what one call does") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    const std::string call = "sweep small.json machine.tiles=1..5 --out ";
    folder.done(call + "whole");
    CHECK(folder.call(call + "parts --shard 2/2").out ==
          "small shard 2/2: 2 points, 2 run now: 2 done\n");
    CHECK(!folder.has("parts/results.csv"));
    CHECK(folder.call(call + "parts --shard 1/2").out ==
          "small shard 1/2: 3 points, 3 run now: 3 done\n");
    CHECK(folder.call(call + "parts").out.starts_with("small: 5 points, 0 run now: 5 done\n"));
    CHECK(folder.read("parts/results.csv") == folder.read("whole/results.csv"));
  }

  TEST_CASE("--slurm submits tasks that are shards, and a job that collects them") {
    const CommandFolder folder{{"it's.json", small_config(2)}};
    std::filesystem::create_directory(folder.path() / "bin");
    folder.write("bin/sbatch", "#!/bin/sh\necho \"$@\" >> calls\necho '12;cluster'\n");
    std::filesystem::permissions(folder.path() / "bin/sbatch", std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", ((folder.path() / "bin").string() + ":" + path).c_str(), 1);
    const std::string axes = "\"it's.json\" machine.tiles=1..5 --set workload.repeats=2 ";
    const Answer answer =
        folder.call("sweep " + axes + "--out s --slurm --shards 2 --jobs 2 --sbatch --time=5");
    CHECK(answer.out == "5 points in 2 tasks of job 12; job 12 collects them into s/results.csv\n");
    const std::string calls = folder.read("calls");
    check_holds(calls, {"--time=5 ", "--dependency=afterany:12 "});
    const std::string script = folder.read("s/slurm/array.sh");
    check_holds(script, {"#SBATCH --array=1-2\n", "#SBATCH --cpus-per-task=2\n"});
    // The commands of the nodes.
    const std::string at = (folder.path() / "s/slurm").string();
    for (const char* task : {"1", "2"}) {
      ::setenv("SLURM_ARRAY_TASK_ID", task, 1);
      CHECK(std::system(("sh " + at + "/array.sh").c_str()) == 0);
    }
    CHECK(std::system(("sh " + at + "/collect.sh > " + at + "/log").c_str()) == 0);
    CHECK(folder.read("s/slurm/log").starts_with("it's: 5 points, 0 run now: 5 done\n"));
    folder.done("sweep " + axes + "--out alone");
    CHECK(folder.read("s/results.csv") == folder.read("alone/results.csv"));
    ::setenv("PATH", "/nowhere", 1);
    check_refused(folder, "sweep " + axes + "--out t --slurm",
                  {"tessera sweep: sbatch", "not found"});
    ::setenv("PATH", path.c_str(), 1);
  }

  TEST_CASE("a sweep says of which axis its runs did not use the part") {
    const CommandFolder folder;
    const Answer answer = folder.done(
        "sweep - machine.tile.latency.f16_fma=6,9 machine.tile.latency.load=6,30 --out s",
        small_config(2));
    CHECK(holds(answer.out,
                "  unused    machine.tile.latency.f16_fma at 4 of 4 points: no such "
                "instruction was executed\n"));
    CHECK(!holds(answer.out, "latency.load at"));
  }
}
