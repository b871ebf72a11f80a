#include <algorithm>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "sim/report/table.h"
#include "tests/cli/command.h"

using namespace tessera::test;

/// Tests of `tessera report` on finished runs.
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("--top prints bound, phases and largest supersteps of each run") {
    const CommandFolder folder;
    folder.done("run - --out one", small_config(3));
    const Answer one = folder.done("report one --top");
    CHECK(one.err.empty());
    CHECK(one.out.starts_with(with_kernel("KERNEL triad, ")));
    check_holds(one.out, {"1 superstep, memory bound", "\n  triad "});
    CHECK(one.out.find("\n  codelet ") < one.out.find("  context cycles "));
    CHECK(folder.call("report one one --top").out ==
          one.out + "\n" + one.out + "\nno cycles differ\n");
    folder.done("run - --out two --set machine.tiles=2", small_config(3));
    folder.done("run - --out three --set workload.elements_per_worker=99", small_config(3));
    const Answer all = folder.done("report one two three --top");
    check_holds(all.out, {"\n  differences ", " B  B - A ", " C  C - A\n", "\n  all cycles ",
                          "\n  phase triad (compute) ", "\n  machine.tiles: 3, 2, 3\n"});
  }

  TEST_CASE("the page is one file that names no other, in the run's folder or where --out says") {
    const CommandFolder folder;
    folder.done("run - --out '</script><b>'", small_config(3));
    const Answer one = folder.done("report '</script><b>'");
    CHECK(one.err.empty());
    CHECK(one.out.starts_with("</script><b>/report.html  "));
    const std::string page = folder.read("</script><b>/report.html");
    CHECK(page.starts_with("<!doctype html>"));
    CHECK(holds(page, "default-src 'none'"));
    CHECK(!holds(page, "http:"));
    CHECK(!holds(page, "https:"));
    CHECK(!holds(page, "src="));
    CHECK(!holds(page, "<link"));
    CHECK(!holds(page, "<!-- "));
    CHECK(occurrences(page, "<script") == occurrences(page, "</script>"));
    CHECK(!holds(page, "<b>"));
    folder.done("report '</script><b>' --out again.html");
    CHECK(folder.read("again.html") == page);
  }

  TEST_CASE("buffers.csv says what lies where on the fullest tile, and when") {
    const CommandFolder folder;
    folder.done("run - --out one", small_config(3));
    const tessera::report::Table buffers =
        tessera::report::parse_table(folder.read("one/buffers.csv"), "buffers.csv", {});
    REQUIRE(buffers.rows > 3);
    const auto at = [&](const char* name, std::size_t row) { return buffers.at(name).values[row]; };
    double end = 0;
    for (std::size_t a = 0; a < buffers.rows; ++a) {
      end = std::max(end, at("address", a) + at("bytes", a));
      for (std::size_t b = 0; b < a; ++b) {
        const bool together =
            at("first_step", a) <= at("last_step", b) && at("first_step", b) <= at("last_step", a);
        const bool meet = at("address", a) < at("address", b) + at("bytes", b) &&
                          at("address", b) < at("address", a) + at("bytes", a);
        CHECK_FALSE((together && meet));
      }
    }
    const auto report = folder.json("one/report.json");
    CHECK(end <= report["memory"]["max_tile_bytes"].get<double>());
    CHECK(end > 0.9 * report["memory"]["max_tile_bytes"].get<double>());
  }

  TEST_CASE("each tile's part of each superstep is recorded without being asked for") {
    const CommandFolder folder;
    folder.done("run - --out one", small_config(3));
    CHECK(folder.has("one/tile_steps.npy"));
    folder.done("run - --out one --set report.tile_steps=0", small_config(3));
    CHECK_FALSE(folder.has("one/tile_steps.npy"));
  }

  TEST_CASE("a sweep has a page, but no --top") {
    const CommandFolder folder;
    folder.done("sweep - machine.tiles=2,3 --out s --quiet", small_config(3));
    CHECK(folder.call("report s --out page.html").out.starts_with("page.html  "));
    const std::string page = folder.read("page.html");
    check_holds(page, {"default-src 'none'", "{\"sweep\":"});
    check_refused(folder, "report s --top", {"--top: found the sweep s, allowed runs"});
    check_refused(folder, "report s s", {"found the sweep s beside others, allowed it alone"});
    folder.done("run - --out s --quiet", small_config(3));
    const std::string told = "s: holds a sweep and a run; the sweep is shown\n";
    CHECK(folder.call("report s --out page.html").err == told);
    CHECK(folder.call("plot s --kind tiles").err.starts_with(told));
    CHECK(folder.read("page.html") == page);
    folder.write("s/results.jsonl", "{}\n");
    check_refused(folder, "report s", {"s/results.jsonl:1: is no point of tessera sweep"});
    folder.write("s/results.jsonl", "");
    check_refused(folder, "report s", {"s: found no point there"});
    folder.write("k/sensitivity.json", "{}");
    check_refused(folder, "report k", {"k: found neither results.jsonl of tessera sweep nor "});
  }

  TEST_CASE("the page of two runs holds both, in the second's folder") {
    const CommandFolder folder;
    folder.done("run - --out one", small_config(3));
    folder.done("run - --out two --set machine.tiles=5", small_config(3));
    CHECK(folder.call("report one two").out.starts_with("two/comparison.html  "));
    const std::string page = folder.read("two/comparison.html");
    check_holds(page, {"\"tiles\":3,", "\"tiles\":5,"});
    check_refused(folder, "report one --out none/page.html", {"none/page.html", "No such file"});
  }

  TEST_CASE("nodes of other classes are in summary, tables and page, used or not") {
    const CommandFolder folder;
    const std::string set =
        " --set 'machine.nodes=[{\"name\": \"memory\", \"count\": 2, \"tile\": "
        "{\"sram_kib\": 1024, \"contexts\": 0}}]'";
    folder.done("run - --out alone", small_config(3));
    const Answer run = folder.done("run - --out r" + set, small_config(3));
    CHECK(holds(run.out,
                "  nodes     2 of class memory from tile 3 on, 1024 KiB each, no workers: "
                "not used by the workload\n"));
    const tessera::config::Json report = folder.json("r/report.json");
    CHECK(report["nodes"].dump() ==
          R"([{"class":"memory","first_tile":3,"count":2,"used":0,"contexts":0,)"
          R"("capacity_bytes":1048576}])");
    CHECK(report["time"] == folder.json("alone/report.json")["time"]);
    const std::string tiles = folder.read("r/tiles.csv");
    check_holds(tiles, {",class\n0,", ",tile\n3,0,0,0,0,"});
    CHECK(tiles.ends_with(",memory\n"));
    CHECK(!holds(folder.read("alone/tiles.csv"), "class"));
    folder.done("report r");
    folder.write("again.json", tessera::config::Json{{"machine", report["config"]["machine"]},
                                                     {"workload", report["config"]["workload"]}}
                                   .dump());
    folder.done("run again.json --out again --quiet");
    CHECK(folder.json("again/report.json")["config"]["machine"] == report["config"]["machine"]);
  }

  TEST_CASE("a folder that holds no run is refused with file and what is missing") {
    const CommandFolder folder;
    folder.done("run - --out one --set report.tile_steps=0", small_config(3));
    const std::string report = folder.read("one/report.json");
    const std::string steps = folder.read("one/steps.csv");
    const std::pair<std::string, std::string> reports[] = {
        {"[]", "one/report.json: config.machine.tiles: no number stands there"},
        {"{", "one/report.json: line 1"},
        {replaced(report, "\"wait_cycles\"", "\"waits\""),
         "one/report.json: time.wait_cycles: no number stands there"},
        {replaced(report, "\"kernel\"", "\"kern\""), "config.workload.kernel: no text stands"}};
    for (const auto& [text, message] : reports) {
      folder.write("one/report.json", text);
      check_refused(folder, "report one --top", {message});
    }
    folder.write("one/report.json", report);
    folder.write("one/steps.csv", replaced(steps, "last_tile", "final_tile"));
    check_refused(folder, "report one --top", {"one/steps.csv: the column last_tile is missing"});
    folder.write("one/steps.csv", steps + "1,2\n");
    check_refused(folder, "report one --top", {"one/steps.csv:3: found 2 fields, expected 28"});
    folder.write("one/steps.csv", steps);
    for (const std::string& bytes : {std::string(), std::string("not numpy")}) {
      folder.write("one/tile_steps.npy", bytes);
      check_refused(folder, "report one", {"one/tile_steps.npy: "});
    }
    folder.done("run - --out four --set report.tile_steps=9 --set machine.tiles=4",
                small_config(3));
    folder.write("one/tile_steps.npy", folder.read("four/tile_steps.npy"));
    check_refused(folder, "report one",
                  {"one/tile_steps.npy: found <u4 [1, 4, 3], expected <u4 [rows, 3, 3]"});
    folder.done("run - --out one --set report.tile_steps=0 --quiet", small_config(3));
    CHECK(!folder.has("one/tile_steps.npy"));  // an old file would be of another run
    std::filesystem::remove(folder.path() / "one/traffic.csv");
    check_refused(folder, "report one", {"one/traffic.csv: cannot be read: No such file"});
    std::filesystem::remove(folder.path() / "one/tiles.csv");
    check_refused(folder, "report one --top", {"one/tiles.csv: cannot be read: No such file"});
  }
}
