#include "tests/tools/viewer/page.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/report/units.h"
#include "tests/cli/command.h"

using namespace tessera::test;
using tessera::report::grouped;

/// The page of `tessera report` in a real browser. Skipped where Chromium is not installed.
namespace {

/// One browser for the runs that its pages show; each case loads its page anew.
struct Shown {
  CommandFolder folder;
  Chromium browser{folder.path() / ".profile"};

  Shown() {
    run_product(folder, "run - --out one");
    run_product(folder, "run - --out two --set workload.layout=blocked");
    run_product(folder, "run - --out three --set machine.clock_ghz=0.9");
  }
  /// Makes the page of runs and shows it.
  void open(const std::string& runs, const std::string& page, bool dark = false) {
    run_product(folder, "report " + runs);
    browser.open(folder.path() / page, dark);
  }
};

Shown& shown() {
  static Shown made;
  return made;
}

/// The page s/report.html of six points, two of which do not fit.
void show_sweep(const CommandFolder& folder) {
  run_product(folder, "sweep - machine.tile.sram_kib=4,64,624 workload.n=30,70 --out s --quiet");
  const Answer answer = folder.done("report s");
  CHECK(answer.out.starts_with("s/report.html  "));
}

}  // namespace

TEST_SUITE("browser") {
  TEST_CASE("the page shows the numbers of the run's files, draws, and asks for nothing") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    shown().open("one", "one/report.html");
    check_drawn(browser);

    const Json report = folder.json("one/report.json");
    CHECK(browser.evaluate("state.runs[0].report") == report);
    for (const char* table : {"steps", "tiles", "traffic", "buffers"}) {
      CHECK(browser.evaluate(fmt::format("state.runs[0].{}.csv()", table)) ==
            folder.read(fmt::format("one/{}.csv", table)));
    }
    CHECK(text_of(browser, "h1") == with_kernel("PRODUCT 90x70x130 f16 on bow"));
    CHECK(
        contains(text_of(browser, "#head .facts"), grouped(report["time"]["cycles"]) + " cycles"));
    const double peak = report["rate"]["fraction_of_peak"];
    CHECK(contains(text_of(browser, "#achieved tbody tr"), fmt::format("{:.1f} %", 100 * peak)));
    for (const char* part : {"compute", "exchange", "sync"}) {
      const std::uint64_t cycles = report["time"][fmt::format("{}_cycles", part)];
      CHECK(contains(text_of(browser, "#where .legend"), grouped(cycles)));
    }
    CHECK(contains(text_of(browser, "#energy"),
                   fmt::format("{:.1f} W", report["energy"]["watts"].get<double>())));
    CHECK(browser.evaluate("tileMetrics(theRun()).some(metric => metric.name === 'energy')") ==
          true);
    CHECK(contains(text_of(browser, "#config"), "fabric.receive_bytes_per_cycle4"));
    for (const Json& part : report.at("unused")) {
      CHECK(contains(text_of(browser, "#config .unused"), part.at("why").get<std::string>()));
      CHECK(contains(text_of(browser, "#config .unused"),
                     part.at("key").get<std::string>().substr(std::string("machine.").size())));
    }
    CHECK(browser.evaluate("document.querySelectorAll('#where table')[0].tBodies[0].rows.length") ==
          browser.evaluate("state.runs[0].analysis.phases.length"));
    check_quiet(browser, folder.path() / "one/report.html");
  }

  TEST_CASE("every heading, column, label and legend has its explanation as its title") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    run_product(folder, "run - --out fewer --set machine.tiles=24");
    for (const auto& [runs, page] :
         {std::pair{"one", "one/report.html"}, {"one fewer", "fewer/comparison.html"}}) {
      shown().open(runs, page);
      browser.evaluate("chooseTile(3)");
      const Json without =
          browser.evaluate(R"([...document.querySelectorAll('#main :is(' + WORDS + ')')]
        .filter(node => ownText(node) && !node.title && !node.querySelector('[title]') && !node.closest('#compare'))
        .map(node => (node.closest('section')?.id ?? '') + ': ' + ownText(node)))");
      for (const Json& each : without) FAIL_CHECK(each.get<std::string>());
      CHECK(contains(browser.evaluate("document.querySelector('#contexts .legend span').title"),
                     "stalls."));
      CHECK(browser.evaluate("document.querySelectorAll('#main [title]').length > 150") == true);
      check_quiet(browser, folder.path() / page);
    }
  }

  TEST_CASE("the memory section names the fullest tile's buffers and draws where they lie") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    run_product(folder, "run - --out steps --set report.tile_steps=100000");
    shown().open("steps", "steps/report.html");
    const std::string shown = text_of(browser, "#memory");
    const Json names = browser.evaluate("state.runs[0].ranges.map(range => range.name)");
    CHECK(names.size() > 4);
    for (const Json& name : names) CHECK(contains(shown, name.get<std::string>()));
    CHECK(contains(shown, "descriptor lists"));
    // Each superstep's live bytes are those that its buffers sum up to on the tile where most are.
    CHECK(browser.evaluate(R"(state.runs[0].steps.of('live_bytes').every((live, step) =>
      sumOf(state.runs[0].ranges.filter(range => range.category === 'tensors' && holds(range, state.runs[0].covered, step))
        .map(range => range.bytes)) >= 0.9 * live))") == true);
    CHECK(contains(text_of(browser, "#roofline"), "run"));
    CHECK(browser.evaluate(
              "rooflineOf(state.runs[0]).flats.map(flat => flat.name).includes('vector f32')") ==
          true);
    check_quiet(browser, folder.path() / "steps/report.html");
  }

  TEST_CASE("the roofline of integer products has the integer unit's roof and integers' units") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    static_cast<void>(
        folder.done("run - --out integers", with_kernel(R"({"machine": "xdna1", "workload": {
        "kernel": "PRODUCT", "m": 64, "n": 64, "k": 64, "dtype": "i8"}})")));
    shown().open("integers", "integers/report.html");
    const std::string text = text_of(browser, "#roofline");
    CHECK(contains(text, "OP/s"));
    CHECK(contains(text, "OP a byte"));
    CHECK(contains(text_of(browser, "#memory"), "of code and lists in a memory of their own"));
    CHECK(!holds(text, "FLOP"));
    CHECK(browser.evaluate(
              R"(tileMetrics(state.runs[0]).find(metric => metric.name === 'flops').title ===
      'Integer operations a cycle')") == true);
    CHECK(browser.evaluate(
              R"(rooflineOf(state.runs[0]).flats.find(flat => flat.name === 'i8').flops ===
      state.runs[0].report.rate.peak_per_second)") == true);
    CHECK(browser.evaluate(R"(rooflineOf(state.runs[0]).points.find(point => point.whole).rate ===
      state.runs[0].report.rate.useful_integer_operations_per_second)") == true);
    check_quiet(browser, folder.path() / "integers/report.html");
  }

  TEST_CASE("the page of validation sets shows each point, its source and what is left out") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    const auto answer = folder.done("validate stream contexts --html --out v");
    CHECK(contains(answer.out, "page: v/validation.html\n"));
    browser.open(folder.path() / "v/validation.html");
    CHECK(contains(text_of(browser, "#stream"), "SciCoLab/WaveEquation-IPU"));
    CHECK(contains(text_of(browser, "#stream"), "46.55"));
    CHECK(contains(text_of(browser, "#contexts"), "iPUG"));
    CHECK(contains(text_of(browser, "#kinds"), "datasheet"));
    CHECK(contains(text_of(browser, "#kinds"), "median 0.9 to 1.1"));
    CHECK(contains(text_of(browser, "#sets"), "reproduces"));
    CHECK(contains(text_of(browser, "#modelled"), "bank contention"));
    CHECK(contains(text_of(browser, "#modelled"), "fabric/scheduled_fabric"));
    CHECK(browser.colours_shown() > 30);
    check_quiet(browser, folder.path() / "v/validation.html");
  }

  TEST_CASE("pages fit narrow windows, where what is wider scrolls by itself, and paper") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    shown().open("one", "one/report.html");
    browser.resize(400, 800);
    CHECK(browser.evaluate("innerWidth") == 400);
    CHECK(browser.evaluate("document.documentElement.scrollWidth") <= 400);
    check_drawn(browser);
    browser.print_look();
    CHECK(browser.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none");
    CHECK(browser.evaluate("getComputedStyle(document.querySelector('button')).display") == "none");
    CHECK(browser.evaluate("getComputedStyle(document.querySelector('#memory')).display") ==
          "block");
    browser.look_as_before();
    check_quiet(browser, folder.path() / "one/report.html");
  }

  TEST_CASE("a machine without an energy table has no such section") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    run_product(folder, "run - --out unpowered --set machine.energy=null");
    shown().open("unpowered", "unpowered/report.html");
    check_drawn(browser);
    CHECK(browser.evaluate("document.getElementById('energy')").is_null());
    CHECK(browser.evaluate("document.querySelectorAll('#sections a').length") == 9);
    check_quiet(browser, folder.path() / "unpowered/report.html");
  }

  TEST_CASE("what tessera sensitivity left beside the run stands on its page, all of it") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    run_product(folder, "run - --out moved");
    run_product(folder,
                "sensitivity - --out moved --quiet --key machine.tiles --key machine.tile.latency "
                "--key machine.fabric");
    shown().open("moved", "moved/report.html");
    const std::string shown = text_of(browser, "#faster");
    const Json stored = folder.json("moved/sensitivity.json");
    CHECK(stored.at("keys").size() > 10);
    for (const Json& key : stored.at("keys"))
      CHECK(contains(shown, key.at("key").get<std::string>().substr(8)));
    CHECK(contains(shown, "predicted"));
    CHECK(browser.evaluate("document.querySelectorAll('#sections a').length") == 11);
    check_quiet(browser, folder.path() / "moved/report.html");
  }

  TEST_CASE("wheel, keys and buttons do what they say") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    shown().open("one", "one/report.html");
    const auto length = [&browser = browser] {
      return browser.evaluate("state.to - state.from").get<double>();
    };
    const double whole = length();
    browser.evaluate("document.getElementById('timeline').scrollIntoView()");
    browser.wheel(700, 300, -300);
    CHECK(length() == doctest::Approx(whole / 2.71828).epsilon(0.01));
    browser.press("0");
    CHECK(length() == whole);
    browser.press("+");
    CHECK(length() == doctest::Approx(whole / 2));
    const auto rows = [&browser = browser] {
      return browser.evaluate("theRun().tileHistory.shown.to - theRun().tileHistory.shown.from");
    };
    CHECK(rows() == 30);
    browser.press(".");
    CHECK(rows() == 15);
    browser.evaluate(R"((() => {
      const canvas = document.getElementById('timeline-canvas');
      const {left, bottom} = canvas.getBoundingClientRect();
      canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, shiftKey: true,
                                                    clientX: left + 300, clientY: bottom - 80}));
    })())");
    CHECK(rows().get<double>() == doctest::Approx(15 / 2.71828).epsilon(0.01));
    browser.press("0");
    CHECK(rows() == 30);
    browser.press("d");
    CHECK(browser.evaluate("theme()") == "dark");
  }

  TEST_CASE("the map chooses tiles and metrics, and CSV buttons save the run's own files") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    shown().open("one", "one/report.html");
    browser.evaluate("chooseTile(3), document.querySelector('#tiles canvas').focus()");
    browser.evaluate(
        "document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowRight'}))");
    browser.evaluate(
        "document.getElementById('metric').value = 'received',"
        "document.getElementById('metric').dispatchEvent(new Event('change'))");
    CHECK(browser.evaluate("state.tile") == 4);
    CHECK(contains(text_of(browser, "#tiles .side"), "Bytes received"));
    CHECK(contains(text_of(browser, "#tiles .side"), "Tile 4"));
    // The file that a CSV button would save.
    browser.evaluate(
        "URL.createObjectURL = blob => { window.saved = blob.text(); return 'blob:'; };"
        "HTMLAnchorElement.prototype.click = () => {};"
        "document.querySelector('#timeline [title=\"Save as steps.csv\"]').click()");
    CHECK(browser.evaluate("window.saved") == folder.read("one/steps.csv"));
    check_quiet(browser, folder.path() / "one/report.html");
  }

  TEST_CASE("the page of two runs compares them, in the dark too") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    shown().open("one two", "two/comparison.html", true);
    check_drawn(browser);
    CHECK(browser.evaluate("theme()") == "dark");
    const Json one = folder.json("one/report.json");
    const Json two = folder.json("two/report.json");
    CHECK(browser.evaluate("state.runs.map(run => run.report)") == Json::array({one, two}));
    const std::string first_row = text_of(browser, "#compare tbody tr");
    CHECK(contains(first_row,
                   "cycles" + grouped(one["time"]["cycles"]) + grouped(two["time"]["cycles"])));
    CHECK(contains(text_of(browser, "#compare"), "workload.layoutnaturalblocked"));
    browser.press("r");
    CHECK(contains(text_of(browser, "#head .facts"), grouped(two["time"]["cycles"]) + " cycles"));
    check_quiet(browser, folder.path() / "two/comparison.html");
  }

  TEST_CASE("the page of several runs compares all with the first, different clocks in seconds") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    shown().open("one two three", "three/comparison.html");
    check_drawn(browser);
    const Json one = folder.json("one/report.json");
    const Json three = folder.json("three/report.json");
    CHECK(browser.evaluate("document.querySelectorAll('#compare thead')[0].rows[0].cells.length") ==
          4);
    const std::string compared = text_of(browser, "#compare");
    const double slower = three["time"]["seconds"].get<double>() /
                          folder.json("two/report.json")["time"]["seconds"].get<double>();
    CHECK(contains(compared, fmt::format("B is the fastest; C takes {:.3f} times", slower)));
    CHECK(contains(compared, "The clocks differ: bars and supersteps stand in seconds"));
    CHECK(contains(compared, "clock1.85 GHz1.85 GHz =0.9 GHz"));
    CHECK(contains(compared, "machine.clock_ghz1.851.850.9"));
    CHECK(one["time"]["cycles"] == three["time"]["cycles"]);
    for (int i = 0; i < 2; ++i) browser.press("r");
    CHECK(browser.evaluate("state.at") == 2);
    browser.press("r");
    CHECK(browser.evaluate("state.at") == 0);
    check_quiet(browser, folder.path() / "three/comparison.html");
  }

  TEST_CASE("the page of a sweep shows every point, and a chosen one's sections") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    show_sweep(folder);
    browser.open(folder.path() / "s/report.html");
    CHECK(text_of(browser, "h1") == "Sweep s");
    CHECK(browser.evaluate("document.querySelectorAll('#points tbody tr').length") == 6);
    CHECK(contains(text_of(browser, "#head .facts"), "2 without a correct result"));
    CHECK(browser.colours_shown() > 50);
    browser.evaluate("document.querySelectorAll('#points tbody tr')[5].click()");
    browser.evaluate("new Promise(resolve => setTimeout(resolve, 300))");
    CHECK(contains(text_of(browser, "#point"), "sram_kib 624, n 70"));
    CHECK(contains(text_of(browser, "#point-config"), "tile.sram_kib624"));
    browser.evaluate("document.querySelectorAll('#points tbody tr')[0].click()");
    browser.evaluate("new Promise(resolve => setTimeout(resolve, 300))");
    CHECK(contains(text_of(browser, "#point"), "failed: "));
    check_quiet(browser, folder.path() / "s/report.html");
  }

  TEST_CASE("values of axes choose which points of a sweep its page shows, by keys too") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    show_sweep(folder);
    browser.open(folder.path() / "s/report.html");
    const auto rows = [&browser = browser] {
      browser.evaluate("new Promise(resolve => setTimeout(resolve, 100))");
      return browser.evaluate("document.querySelectorAll('#points tbody tr').length");
    };
    CHECK(text_of(browser, "#filter [role=status]") ==
          "6 of 6 points shown, without a correct result: 2 do not fit");
    CHECK(contains(text_of(browser, "#filter"), "4 264 2624 2"));
    // The button of n 70, reached and pressed by keys.
    browser.evaluate("document.querySelectorAll('#filter .filter')[1].children[1].focus()");
    browser.press("Tab");
    browser.press("Enter");
    CHECK(rows() == 3);
    CHECK(contains(text_of(browser, "#filter"), "4 164 1624 1"));
    browser.evaluate("document.querySelectorAll('#filter .filter')[0].children[3].click()");
    CHECK(rows() == 1);
    CHECK(text_of(browser, "#filter [role=status]") == "1 of 6 points shown");
    CHECK(text_of(browser, "#points tbody tr").starts_with("62470"));
    browser.press("a");
    CHECK(rows() == 6);
    CHECK(browser.evaluate("document.querySelectorAll('#filter [aria-pressed=true]').length") == 0);
    check_quiet(browser, folder.path() / "s/report.html");
  }

  TEST_CASE("the page of a thousand points filters ranges of an axis at once") {
    NEEDS_CHROMIUM();
    auto& [folder, browser] = shown();
    std::filesystem::create_directory(folder.path() / "thousand");
    std::string lines;
    for (int i = 0; i < 1000; ++i)
      lines += fmt::format(
          R"({{"id": "{0}", "axes": {{"workload.n": {0}, "workload.k": {1}}}, "status": "done",)"
          R"( "error": null, "report": {{"time": {{"cycles": {2}}}}}}})"
          "\n",
          i, i % 7, 1000 + i * 37 % 500);
    folder.write("thousand/results.jsonl", lines);
    folder.done("report thousand");
    browser.open(folder.path() / "thousand/report.html");
    const Json took = browser.evaluate(R"((() => {
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
    CHECK(text_of(browser, "#filter [role=status]") == "200 of 1,000 points shown");
    CHECK(browser.evaluate("document.querySelectorAll('#points tbody tr').length") == 200);
    check_quiet(browser, folder.path() / "thousand/report.html");
  }
}
