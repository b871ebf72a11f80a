#include "tests/tools/viewer/page.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/report/units.h"
#include "tests/cli/command.h"

using namespace tessera::test;
using tessera::report::grouped;

/// Tests the page of `tessera report` in a browser. Skipped if Chromium is not installed.
namespace {

/// Writes the page s/report.html of six points, two of which do not fit.
void show_sweep(const CommandFolder& folder) {
  run_product(folder, "sweep - machine.tile.sram_kib=4,64,624 workload.n=30,70 --out s --quiet");
  const Answer answer = folder.done("report s");
  CHECK(answer.out.starts_with("s/report.html  "));
}

}  // namespace

TEST_SUITE("browser") {
  TEST_CASE("the page shows the numbers of the run's files, draws, and asks for nothing") {
    NEEDS_CHROMIUM();
    Page page("one", "one/report.html");
    check_drawn(page.browser);

    const Json report = page.folder.json("one/report.json");
    CHECK(page.evaluate("state.runs[0].report") == report);
    for (const char* table : {"steps", "tiles", "traffic", "buffers"}) {
      CHECK(page.evaluate(fmt::format("state.runs[0].{}.csv()", table)) ==
            page.folder.read(fmt::format("one/{}.csv", table)));
    }
    CHECK(page.text("h1") == with_kernel("PRODUCT 90x70x130 f16 on bow"));
    page.shows("#head .facts", {grouped(report["time"]["cycles"]) + " cycles"});
    const double peak = report["rate"]["fraction_of_peak"];
    page.shows("#achieved tbody tr", {fmt::format("{:.1f} %", 100 * peak)});
    for (const char* part : {"compute", "exchange", "sync"}) {
      const std::uint64_t cycles = report["time"][fmt::format("{}_cycles", part)];
      page.shows("#where .legend", {grouped(cycles)});
    }
    page.shows("#energy", {fmt::format("{:.1f} W", report["energy"]["watts"].get<double>())});
    CHECK(page.evaluate("tileMetrics(theRun()).some(metric => metric.name === 'energy')") == true);
    page.shows("#config", {"fabric.receive_bytes_per_cycle4"});
    for (const Json& part : report.at("unused")) {
      page.shows("#config .unused",
                 {part.at("why").get<std::string>(),
                  part.at("key").get<std::string>().substr(std::string("machine.").size())});
    }
    CHECK(page.evaluate("document.querySelectorAll('#where table')[0].tBodies[0].rows.length") ==
          page.evaluate("state.runs[0].analysis.phases.length"));
  }

  TEST_CASE("every heading, column, label and legend has its explanation as its title") {
    NEEDS_CHROMIUM();
    run_product(shown().folder, "run - --out fewer --set machine.tiles=24");
    for (const auto& [runs, name] :
         {std::pair{"one", "one/report.html"}, {"one fewer", "fewer/comparison.html"}}) {
      Page page(runs, name);
      page.evaluate("chooseTile(3)");
      const Json without =
          page.evaluate(R"([...document.querySelectorAll('#main :is(' + WORDS + ')')]
        .filter(node => ownText(node) && !node.title && !node.querySelector('[title]') && !node.closest('#compare'))
        .map(node => (node.closest('section')?.id ?? '') + ': ' + ownText(node)))");
      for (const Json& each : without) FAIL_CHECK(each.get<std::string>());
      CHECK(contains(page.evaluate("document.querySelector('#contexts .legend span').title"),
                     "stalls."));
      CHECK(page.evaluate("document.querySelectorAll('#main [title]').length > 150") == true);
    }
  }

  TEST_CASE("the memory section names the fullest tile's buffers and draws where they lie") {
    NEEDS_CHROMIUM();
    run_product(shown().folder, "run - --out steps --set report.tile_steps=100000");
    Page page("steps", "steps/report.html");
    const std::string shown = page.text("#memory");
    const Json names = page.evaluate("state.runs[0].ranges.map(range => range.name)");
    CHECK(names.size() > 4);
    for (const Json& name : names) CHECK(contains(shown, name.get<std::string>()));
    CHECK(contains(shown, "descriptor lists"));
    // A superstep's live bytes are the sum of its live buffers on the tile with most of them.
    CHECK(page.evaluate(R"(state.runs[0].steps.of('live_bytes').every((live, step) =>
      sumOf(state.runs[0].ranges.filter(range => range.category === 'tensors' && holds(range, state.runs[0].covered, step))
        .map(range => range.bytes)) >= 0.9 * live))") == true);
    page.shows("#roofline", {"run"});
    CHECK(page.evaluate(
              "rooflineOf(state.runs[0]).flats.map(flat => flat.name).includes('vector f32')") ==
          true);
  }

  TEST_CASE("the roofline of integer products has the integer unit's roof and integers' units") {
    NEEDS_CHROMIUM();
    static_cast<void>(shown().folder.done("run - --out integers",
                                          with_kernel(R"({"machine": "xdna1", "workload": {
        "kernel": "PRODUCT", "m": 64, "n": 64, "k": 64, "dtype": "i8"}})")));
    Page page("integers", "integers/report.html");
    const std::string text = page.text("#roofline");
    CHECK(contains(text, "OP/s"));
    CHECK(contains(text, "OP a byte"));
    page.shows("#memory", {"of code and lists in a memory of their own"});
    CHECK(!holds(text, "FLOP"));
    CHECK(page.evaluate(
              R"(tileMetrics(state.runs[0]).find(metric => metric.name === 'flops').title ===
      'Integer operations a cycle')") == true);
    CHECK(page.evaluate(
              R"(rooflineOf(state.runs[0]).flats.find(flat => flat.name === 'i8').flops ===
      state.runs[0].report.rate.peak_per_second)") == true);
    CHECK(page.evaluate(R"(rooflineOf(state.runs[0]).points.find(point => point.whole).rate ===
      state.runs[0].report.rate.useful_integer_operations_per_second)") == true);
  }

  TEST_CASE("the page of validation sets shows each point, its source and what is left out") {
    NEEDS_CHROMIUM();
    const auto answer = shown().folder.done("validate stream contexts --html --out v");
    CHECK(contains(answer.out, "page: v/validation.html\n"));
    Page page("v/validation.html");
    page.shows("#stream", {"SciCoLab/WaveEquation-IPU", "46.55"});
    page.shows("#contexts", {"iPUG"});
    page.shows("#kinds", {"datasheet", "median 0.9 to 1.1"});
    page.shows("#sets", {"reproduces"});
    page.shows("#modelled", {"bank contention", "fabric/scheduled_fabric"});
    CHECK(page.browser.colours_shown() > 30);
  }

  TEST_CASE("pages fit narrow windows, where what is wider scrolls by itself, and paper") {
    NEEDS_CHROMIUM();
    Page page("one", "one/report.html");
    page.browser.resize(400, 800);
    CHECK(page.evaluate("innerWidth") == 400);
    CHECK(page.evaluate("document.documentElement.scrollWidth") <= 400);
    check_drawn(page.browser);
    page.browser.print_look();
    CHECK(page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none");
    CHECK(page.evaluate("getComputedStyle(document.querySelector('button')).display") == "none");
    CHECK(page.evaluate("getComputedStyle(document.querySelector('#memory')).display") == "block");
    page.browser.look_as_before();
  }

  TEST_CASE("a machine without an energy table has no such section") {
    NEEDS_CHROMIUM();
    run_product(shown().folder, "run - --out unpowered --set machine.energy=null");
    Page page("unpowered", "unpowered/report.html");
    check_drawn(page.browser);
    CHECK(page.evaluate("document.getElementById('energy')").is_null());
    CHECK(page.count("#sections a") == 9);
  }

  TEST_CASE("the page of a run shows all sensitivities stored beside it") {
    NEEDS_CHROMIUM();
    run_product(shown().folder, "run - --out moved");
    run_product(shown().folder,
                "sensitivity - --out moved --quiet --key machine.tiles --key machine.tile.latency "
                "--key machine.fabric");
    Page page("moved", "moved/report.html");
    const std::string shown = page.text("#faster");
    const Json stored = page.folder.json("moved/sensitivity.json");
    CHECK(stored.at("keys").size() > 10);
    for (const Json& key : stored.at("keys"))
      CHECK(contains(shown, key.at("key").get<std::string>().substr(8)));
    CHECK(contains(shown, "predicted"));
    CHECK(page.count("#sections a") == 11);
  }

  TEST_CASE("wheel, keys and buttons do what they say") {
    NEEDS_CHROMIUM();
    Page page("one", "one/report.html");
    const auto length = [&page] { return page.evaluate("state.to - state.from").get<double>(); };
    const double whole = length();
    page.evaluate("document.getElementById('timeline').scrollIntoView()");
    page.browser.wheel(700, 300, -300);
    CHECK(length() == doctest::Approx(whole / 2.71828).epsilon(0.01));
    page.browser.press("0");
    CHECK(length() == whole);
    page.browser.press("+");
    CHECK(length() == doctest::Approx(whole / 2));
    const auto rows = [&page] {
      return page.evaluate("theRun().tileHistory.shown.to - theRun().tileHistory.shown.from");
    };
    CHECK(rows() == 30);
    page.browser.press(".");
    CHECK(rows() == 15);
    page.evaluate(R"((() => {
      const canvas = document.getElementById('timeline-canvas');
      const {left, bottom} = canvas.getBoundingClientRect();
      canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, shiftKey: true,
                                                    clientX: left + 300, clientY: bottom - 80}));
    })())");
    CHECK(rows().get<double>() == doctest::Approx(15 / 2.71828).epsilon(0.01));
    page.browser.press("0");
    CHECK(rows() == 30);
    page.browser.press("d");
    CHECK(page.evaluate("theme()") == "dark");
  }

  TEST_CASE("the timeline shows the supersteps of the busiest of several zones") {
    NEEDS_CHROMIUM();
    run_product(shown().folder,
                "run - --out zones --set machine=xdna1 --set workload.dtype=i8 --set "
                "workload.layout=null");
    Page page("zones", "zones/report.html");
    page.shows("#timeline", {"Zones of tiles go on by themselves: these are the supersteps of zone",
                             "which computes most"});
    CHECK(page.evaluate("state.runs[0].history.count < state.runs[0].steps.rows") == true);
    CHECK(page.evaluate("PARTS.reduce((sum, part) => sum + sumOf(state.runs[0].history.steps.of("
                        "part + '_cycles')), 0) <= state.runs[0].report.time.cycles") == true);
    CHECK(page.evaluate("state.runs[0].tileHistory") == nullptr);
    page.shows("#memory", {"Named buffers of that tile"});
    CHECK(page.evaluate("state.runs[0].zones.length") == 21);
    CHECK(page.evaluate("new Set(state.runs[0].mapped.steps.of('last_tile')).size") == 1);
    CHECK(page.evaluate("state.runs[0].mapped.steps.of('last_tile')[0] === "
                        "state.runs[0].report.memory.max_tile") == true);
  }

  TEST_CASE("the map chooses tiles and metrics, and CSV buttons save the run's own files") {
    NEEDS_CHROMIUM();
    Page page("one", "one/report.html");
    page.evaluate("chooseTile(3), document.querySelector('#tiles canvas').focus()");
    page.evaluate(
        "document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowRight'}))");
    page.evaluate(
        "document.getElementById('metric').value = 'received',"
        "document.getElementById('metric').dispatchEvent(new Event('change'))");
    CHECK(page.evaluate("state.tile") == 4);
    page.shows("#tiles .side", {"Bytes received", "Tile 4"});
    // The file that a CSV button saves.
    page.evaluate(
        "URL.createObjectURL = blob => { window.saved = blob.text(); return 'blob:'; };"
        "HTMLAnchorElement.prototype.click = () => {};"
        "document.querySelector('#timeline [title=\"Save as steps.csv\"]').click()");
    CHECK(page.evaluate("window.saved") == page.folder.read("one/steps.csv"));
  }

  TEST_CASE("the page of two runs compares them, in the dark too") {
    NEEDS_CHROMIUM();
    Page page("one two", "two/comparison.html", true);
    check_drawn(page.browser);
    CHECK(page.evaluate("theme()") == "dark");
    const Json one = page.folder.json("one/report.json");
    const Json two = page.folder.json("two/report.json");
    CHECK(page.evaluate("state.runs.map(run => run.report)") == Json::array({one, two}));
    const std::string first_row = page.text("#compare tbody tr");
    CHECK(contains(first_row,
                   "cycles" + grouped(one["time"]["cycles"]) + grouped(two["time"]["cycles"])));
    page.shows("#compare", {"workload.layoutnaturalblocked"});
    page.browser.press("r");
    page.shows("#head .facts", {grouped(two["time"]["cycles"]) + " cycles"});
  }

  TEST_CASE("the page of several runs compares all with the first, different clocks in seconds") {
    NEEDS_CHROMIUM();
    Page page("one two three", "three/comparison.html");
    check_drawn(page.browser);
    const Json one = page.folder.json("one/report.json");
    const Json three = page.folder.json("three/report.json");
    CHECK(page.evaluate("document.querySelectorAll('#compare thead')[0].rows[0].cells.length") ==
          4);
    const std::string compared = page.text("#compare");
    const double slower = three["time"]["seconds"].get<double>() /
                          page.folder.json("two/report.json")["time"]["seconds"].get<double>();
    CHECK(contains(compared, fmt::format("B is the fastest; C takes {:.3f} times", slower)));
    CHECK(contains(compared, "The clocks differ: bars and supersteps stand in seconds"));
    CHECK(contains(compared, "clock1.85 GHz1.85 GHz =0.9 GHz"));
    CHECK(contains(compared, "machine.clock_ghz1.851.850.9"));
    CHECK(one["time"]["cycles"] == three["time"]["cycles"]);
    for (int i = 0; i < 2; ++i) page.browser.press("r");
    CHECK(page.evaluate("state.at") == 2);
    page.browser.press("r");
    CHECK(page.evaluate("state.at") == 0);
  }

  TEST_CASE("the page of a sweep shows every point, and a chosen one's sections") {
    NEEDS_CHROMIUM();
    show_sweep(shown().folder);
    Page page("s/report.html");
    CHECK(page.text("h1") == "Sweep s");
    CHECK(page.count("#points tbody tr") == 6);
    page.shows("#head .facts", {"2 without a correct result"});
    CHECK(page.browser.colours_shown() > 50);
    page.evaluate("document.querySelectorAll('#points tbody tr')[5].click()");
    page.evaluate("new Promise(resolve => setTimeout(resolve, 300))");
    page.shows("#point", {"sram_kib 624, n 70"});
    page.shows("#point-config", {"tile.sram_kib624"});
    page.evaluate("document.querySelectorAll('#points tbody tr')[0].click()");
    page.evaluate("new Promise(resolve => setTimeout(resolve, 300))");
    page.shows("#point", {"failed: "});
  }

  TEST_CASE("the page of a sweep takes axes swept together for one, marked at their values") {
    NEEDS_CHROMIUM();
    std::string config = product_config(4, R"("k": 16)");
    config.insert(1, R"("sweep": {"zip": {"workload.m": [16, 64], "workload.n": [32, 96]}}, )");
    shown().folder.done("sweep - --out zip --quiet", config);
    Page page("zip", "zip/report.html");
    CHECK(page.evaluate("document.querySelectorAll('#figure select')[2].value") == "");  // colour
    CHECK(page.count("#map") == 0);
    CHECK(page.evaluate("(m => axisTitle(m) + scaleOf(m).marks.map(each => ' ' + each[1]))("
                        "sweepColumns(JSON.parse(document.getElementById('runs').textContent)"
                        ".sweep)[0])") == "m, with n 16, 64");
  }

  TEST_CASE("values of axes choose which points of a sweep its page shows, by keys too") {
    NEEDS_CHROMIUM();
    show_sweep(shown().folder);
    Page page("s/report.html");
    const auto rows = [&page] {
      page.evaluate("new Promise(resolve => setTimeout(resolve, 100))");
      return page.count("#points tbody tr");
    };
    CHECK(page.text("#filter [role=status]") ==
          "6 of 6 points shown, without a correct result: 2 do not fit");
    page.shows("#filter", {"4 264 2624 2"});
    // The button for n 70, reached and pressed by keyboard.
    page.evaluate("document.querySelectorAll('#filter .filter')[1].children[1].focus()");
    page.browser.press("Tab");
    page.browser.press("Enter");
    CHECK(rows() == 3);
    page.shows("#filter", {"4 164 1624 1"});
    page.evaluate("document.querySelectorAll('#filter .filter')[0].children[3].click()");
    CHECK(rows() == 1);
    CHECK(page.text("#filter [role=status]") == "1 of 6 points shown");
    CHECK(page.text("#points tbody tr").starts_with("62470"));
    page.browser.press("a");
    CHECK(rows() == 6);
    CHECK(page.count("#filter [aria-pressed=true]") == 0);
  }

  TEST_CASE("the page of a thousand points filters ranges of an axis at once") {
    NEEDS_CHROMIUM();
    std::filesystem::create_directory(shown().folder.path() / "thousand");
    std::string lines;
    for (int i = 0; i < 1000; ++i)
      lines += fmt::format(
          R"({{"id": "{0}", "axes": {{"workload.n": {0}, "workload.k": {1}}}, "status": "done",)"
          R"( "error": null, "report": {{"time": {{"cycles": {2}}}}}}})"
          "\n",
          i, i % 7, 1000 + i * 37 % 500);
    shown().folder.write("thousand/results.jsonl", lines);
    shown().folder.done("report thousand");
    Page page("thousand/report.html");
    const Json took = page.evaluate(R"((() => {
      const [least, most] = document.querySelectorAll('#filter input');
      const begin = performance.now();
      least.value = 100;
      least.dispatchEvent(new Event('input'));
      most.value = 299;
      most.dispatchEvent(new Event('input'));
      drawWaiting();
      return performance.now() - begin;
    })())");
    CHECK(took < 1000);
    CHECK(page.text("#filter [role=status]") == "200 of 1,000 points shown");
    CHECK(page.count("#points tbody tr") == 200);
  }
}
