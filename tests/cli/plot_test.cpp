#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/command/accuracy.h"
#include "sim/config/json_text.h"
#include "tests/cli/drawn.h"

using namespace tessera::test;

using namespace tessera;

/// Tests of `tessera plot` on sweeps and runs. Tests that draw are skipped without gnuplot.
namespace {

/// Keys of a product whose trace contains exchanges.
constexpr const char* kTraced = R"("m": 64, "n": 64, "k": 64)";

void sweep(const CommandFolder& folder) {
  folder.write("small.json", small_config(3));
  folder.done(
      "sweep small.json machine.tiles=1,2,4 workload.dtype=f16,f32 --jobs 2 "
      "--out s --quiet");
}

/// The arguments of "tessera plot ..." in the head of a paper's set; empty if there are none.
std::string plot_in(const std::string& text) {
  const std::size_t first = text.find("tessera plot ");
  if (first == std::string::npos) return "";
  const std::size_t begin = text.find(' ', first) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// A set's table with made-up times: each point takes longer than the one before.
std::string table_of(const command::ValidationSet& set) {
  std::vector<command::Row> rows;
  for (const command::ValidationPoint& point : set.points) {
    command::Row& row = rows.emplace_back();
    row.point = &point;
    row.seconds = row.simulated = static_cast<double>(rows.size());
    row.baseline_seconds = 10;
    if (!point.fits) row.error = "does not fit";
  }
  return table_csv(set, rows);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("the figure that a paper's set names is drawn from its table") {
    if (!has_gnuplot()) {
      MESSAGE("skipped: gnuplot is not installed");
      return;
    }
    std::size_t drawn = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TESSERA_SOURCE) + "/configs/papers")) {
      const std::string name = entry.path().stem().string();
      const std::string text = config::read_text(entry.path().string());
      std::string plot = plot_in(text);
      if (plot.empty()) continue;
      plot.replace(plot.find("runs/"), 5, "");
      const CommandFolder folder{
          {name + ".csv", table_of(command::read_validation_set({name, text}))}};
      const Answer answer = folder.call(plot);
      CAPTURE(plot);
      CAPTURE(answer.err);
      CHECK(answer.code == 0);
      ++drawn;
    }
    CHECK(drawn > 0);
  }

  TEST_CASE("every kind of figure is drawn in every format, its table and script beside it") {
    if (!has_gnuplot()) {
      MESSAGE("skipped: gnuplot is not installed");
      return;
    }
    const CommandFolder folder;
    sweep(folder);
    folder.done("run - --out r --quiet", small_config(3));
    folder.done("sweep - workload.m=64,128 --out g --quiet",
                product_config(8, R"("n": 64, "k": 64)"));
    folder.done("sensitivity - --out r --quiet", small_config(3));
    folder.done("sweep small.json run.seed=0,1,2 --out z --quiet");
    folder.done("run - --out t --quiet --trace-tiles 0-2", product_config(4, kTraced));
    for (const std::string arguments :
         {"s --kind lines --y time.seconds",
          "s --kind bars",
          "s --kind heatmap",
          "s --kind pareto --by workload.dtype",
          "s --kind stacked --by workload.dtype",
          "r --kind tornado",
          "s --kind scatter",
          "s --kind parallel",
          "z --kind lines --log xy",
          "s --kind stacked --where workload.dtype=f16 --width 84mm --font Helvetica --size 8",
          "s --kind speedup --baseline workload.dtype=f32",
          "g --kind roofline",
          "r --kind timeline",
          "r r",
          "r r --title \\\'\\\"",
          "r --kind tiles --y sent_bytes",
          "t --kind matrix",
          "t/trace.pftrace --width 3.3in --size 8",
          "t --tiles 1-2 --from 100 --to 900",
          "t --kind utilisation",
          "t --kind traffic --tiles all",
          "t/trace.pftrace --kind matrix --log z"}) {
      test::check_drawn(folder, arguments);
    }
  }

  TEST_CASE("figures of different requests have different names") {
    if (!has_gnuplot()) return;
    const CommandFolder folder;
    sweep(folder);
    std::set<std::string> names;
    const std::vector<std::string> asked = {"",
                                            "--kind bars",
                                            "--y time.seconds",
                                            "--x workload.dtype --kind bars",
                                            "--by workload.dtype",
                                            "--where workload.dtype=f16",
                                            "--where workload.dtype=f32",
                                            "--y 'time.cycles / machine.tiles'",
                                            "--y 'time.cycles * machine.tiles'",
                                            "--log x",
                                            "--title ''",
                                            "--title a",
                                            "--xlabel a",
                                            "--width 3.3in",
                                            "--size 8"};
    for (const std::string& each : asked) {
      const Answer answer = folder.done("plot s --format svg " + each);
      names.insert(answer.out.substr(0, answer.out.find('\n')));
    }
    CHECK(names.size() == asked.size());
    CHECK(names.contains("s/plots/lines.svg"));
    CHECK(names.contains("s/plots/lines-time.seconds.svg"));
    CHECK(folder.call("plot s --format svg --width 3.3in").out ==
          folder.call("plot s --format svg --width 3.3in").out);
    // In another folder the file name includes the sweep's.
    std::filesystem::copy(folder.path() / "s", folder.path() / "t",
                          std::filesystem::copy_options::recursive);
    CHECK(folder.call("plot s --format svg --out p").out.starts_with("p/lines-s.svg\n"));
    CHECK(folder.call("plot t --format svg --out p").out.starts_with("p/lines-t.svg\n"));
    CHECK(folder.call("plot ./t --format svg --out p").out.starts_with("p/lines-.-t-"));
    // --out may name the file.
    CHECK(folder.call("plot s --out q/a.svg").out == "q/a.svg\nq/a.csv\nq/a.gp\n");
    CHECK(folder.call("plot s --out a.b.png").out.starts_with("./a.b.png\n"));
    check_refused(folder, "plot s --out q/a.svg --name b",
                  {"--out: found q/a.svg, allowed a folder with --name or --format"});
  }

  TEST_CASE("a figure is as wide as its column, its letters as large as asked") {
    if (!has_gnuplot()) return;
    const CommandFolder folder;
    sweep(folder);
    folder.done("plot s --width 3.3in --height 2in --size 8 --font serif --title= --name f");
    const std::string pdf = folder.read("s/plots/f.pdf");
    CHECK(holds(pdf, "/MediaBox [ 0 0 237 144 ]"));
    check_holds(folder.read("s/plots/f.svg"),
                {"width=\"317\" height=\"192\"", "font-family=\"serif\" font-size=\"10.67\""});
    CHECK(holds(folder.read("s/plots/f.gp"), "set title ''\n"));
  }

  TEST_CASE("a table of validate is drawn beside itself") {
    if (!has_gnuplot()) {
      MESSAGE("skipped: gnuplot is not installed");
      return;
    }
    const CommandFolder folder{
        {"t.csv",
         "name,workload.kernel,published,simulated,ratio,N,baseline.memory.total_bytes\n"
         "\"a, b\",one,,4,,128,7\nc,one,2,9,4.5,256,8\nd,two,,,,256,\n"}};
    folder.done("plot t.csv --x N --y simulated --format svg --name t");
    CHECK(holds(folder.read("plots/t.csv"), "128"));
    folder.done("plot t.csv --x N --y baseline.memory.total_bytes --format svg");
    folder.write("u.csv", "a,b\n1,2\n");
    check_refused(folder, "plot u.csv", {"u.csv: is no table of tessera validate"});
    check_refused(folder, "plot v.csv", {"v.csv: "});
  }

  TEST_CASE("points left out are counted by reason, and only those that --where selects") {
    if (!has_gnuplot()) return;
    const CommandFolder folder;
    const auto point = [](int id, int tiles, const char* dtype, const std::string& rest) {
      return fmt::format(R"({{"id": "{}", "axes": {{"machine.tiles": {}, "dtype": "{}"}}{}}})", id,
                         tiles, dtype, rest) +
             "\n";
    };
    const std::string done =
        R"(, "status": "done", "report": {"time": {"cycles": 7}, "config": {"workload": {"m": 3}}})";
    const std::string large =
        R"(, "status": "failed", "error": "product: 9 KiB do not fit", "report": null)";
    const std::string refused = R"(, "status": "failed", "error": "no such key", "report": null)";
    const std::string wrong = R"(, "status": "wrong", "error": "is wrong", "report": {}, "x": 1)";
    std::filesystem::create_directory(folder.path() / "s");
    folder.write("s/results.jsonl", point(1, 1, "f16", done) + point(2, 2, "f16", done) +
                                        point(3, 4, "f16", large) + point(4, 8, "f16", wrong) +
                                        point(5, 1, "f32", done) + point(6, 2, "f32", large) +
                                        point(7, 4, "f32", large) + point(8, 8, "f32", refused));
    folder.write("s/points.jsonl", point(1, 1, "f16", "") + point(9, 16, "f16", "") +
                                       point(10, 16, "f32", "") + point(11, 32, "f32", ""));
    const auto told = [&](const std::string& options) {
      const Answer answer = folder.done("plot s --format svg --name f " + options);
      return answer.out.substr(std::min(answer.out.size(), answer.out.find("left out")));
    };
    CHECK(told("") ==
          "left out: 3 points that do not fit, 1 that cannot run, 1 with a wrong result, "
          "3 not simulated\n");
    CHECK(told("--where dtype=f16") ==
          "left out: 1 point that does not fit, 1 with a wrong result, 1 not simulated\n");
    CHECK(told("--kind bars --x dtype --where machine.tiles=1") == "");
    // A value that all configs share also applies to points without a report.
    CHECK(told("--where dtype=f16 --where workload.m=3") == told("--where dtype=f16"));
    check_refused(folder, "plot s --where dtype=f32 --where machine.tiles=2",
                  {"machine.tiles=2: no point with this value has a correct result: 1 point that "
                   "does not fit"});
    folder.write("s/results.jsonl", point(3, 4, "f16", large));
    check_refused(folder, "plot s",
                  {"s: no point there has a correct result: 1 point that does not fit, 4 not"});
  }

  TEST_CASE("the script alone draws the same figure again") {
    if (!has_gnuplot()) return;
    const CommandFolder folder;
    sweep(folder);
    REQUIRE(folder.call("plot s --format svg").out ==
            "s/plots/lines.svg\ns/plots/lines.csv\ns/plots/lines.gp\n");
    const std::string drawn = folder.read("s/plots/lines.svg");
    std::filesystem::remove(folder.path() / "s/plots/lines.svg");
    REQUIRE(std::system(
                ("cd " + (folder.path() / "s/plots").string() + " && gnuplot lines.gp").c_str()) ==
            0);
    CHECK(folder.read("s/plots/lines.svg") == drawn);
  }

  TEST_CASE("a plot ended by a signal leaves no unfinished file") {
    const CommandFolder folder;
    sweep(folder);
    std::filesystem::create_directory(folder.path() / "bin");
    folder.write("bin/gnuplot",
                 "#!/bin/sh\n"
                 "output=$(printf %s \"$2\" | sed \"s/.*output='\\([^']*\\)'.*/\\1/\")\n"
                 "echo half > \"$output\"\ntouch ../../drawing\nsleep 0.3\n"
                 "echo whole >> \"$output\"\ntouch ../../drawn\n");
    std::filesystem::permissions(folder.path() / "bin/gnuplot", std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", ((folder.path() / "bin").string() + ":" + path).c_str(), 1);
    for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
      CAPTURE(signal);
      const int code = folder.interrupt({"plot", "s", "--format", "svg"}, signal,
                                        [&] { return folder.has("drawing"); });
      CHECK(code == (signal == SIGKILL ? -1 : 130));
      while (!folder.has("drawn")) ::usleep(1000);
      CHECK(folder.read("s/plots/lines.csv").size() > 0);
      for (const std::string& name : folder.names()) CHECK(!name.ends_with(".tmp"));
      CHECK(!folder.has("s/plots/lines.svg"));
      for (const char* name : {"drawing", "drawn"}) std::filesystem::remove(folder.path() / name);
    }
    ::setenv("PATH", path.c_str(), 1);
  }

  TEST_CASE("without gnuplot the command says how to install it") {
    const CommandFolder folder;
    sweep(folder);
    const int status = std::system(
        ("cd " + folder.path().string() + " && PATH= " TESSERA_PROGRAM " plot s 2> says > out")
            .c_str());
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(holds(folder.read("says"), "sudo apt-get install -y gnuplot-nox"));
    CHECK_FALSE(folder.has("s/plots"));
  }
}
