#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/tools/viewer/page.h"

using tessera::test::check_quiet;
using tessera::test::Chromium;
using tessera::test::CommandFolder;
using tessera::test::contains;
using tessera::test::run_product;
using tessera::test::text_of;

/// The page of a sweep in a real browser. Skipped where Chromium is not installed.
TEST_SUITE("browser") {
  TEST_CASE("the page of a sweep shows every point, and a chosen one's sections") {
    NEEDS_CHROMIUM();
    const CommandFolder folder;
    run_product(folder, "sweep - machine.tile.sram_kib=4,64,624 workload.n=30,70 --out s --quiet");
    const auto answer = folder.call("report s");
    CHECK(answer.code == 0);
    CHECK(answer.out.starts_with("s/report.html  "));
    Chromium browser(folder.path() / ".profile");
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
    const CommandFolder folder;
    run_product(folder, "sweep - machine.tile.sram_kib=4,64,624 workload.n=30,70 --out s --quiet");
    REQUIRE(folder.call("report s").code == 0);
    Chromium browser(folder.path() / ".profile");
    browser.open(folder.path() / "s/report.html");
    const auto rows = [&] {
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
    const CommandFolder folder;
    std::filesystem::create_directory(folder.path() / "s");
    std::string lines;
    for (int i = 0; i < 1000; ++i)
      lines += fmt::format(
          R"({{"id": "{0}", "axes": {{"workload.n": {0}, "workload.k": {1}}}, "status": "done",)"
          R"( "error": null, "report": {{"time": {{"cycles": {2}}}}}}})"
          "\n",
          i, i % 7, 1000 + i * 37 % 500);
    folder.write("s/results.jsonl", lines);
    REQUIRE(folder.call("report s").code == 0);
    Chromium browser(folder.path() / ".profile");
    browser.open(folder.path() / "s/report.html");
    const tessera::config::Json took = browser.evaluate(R"((() => {
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
    check_quiet(browser, folder.path() / "s/report.html");
  }
}
