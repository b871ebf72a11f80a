#include "tests/tools/viewer/page.h"

#include "sim/report/units.h"

using namespace tessera::test;
using tessera::report::grouped;

TEST_SUITE("browser") {
  TEST_CASE("spikes stand on the page, a sample at a time, a band a layer") {
    NEEDS_CHROMIUM();
    const CommandFolder folder;
    folder.done("run - --out one", R"({"machine": {"extends": "bow", "tiles": 16},
        "workload": {"kernel": "snn", "layers": [40, 10], "time_steps": 9, "batch": 2,
                     "data": {"samples": 2, "rate": 0.1}, "weight_scale": 60}})");
    folder.done("report one");
    Chromium browser(folder.path() / ".profile");
    browser.open(folder.path() / "one/report.html");
    const Json raster = folder.json("one/report.json").at("results").at("raster");
    const Json report = folder.json("one/report.json");
    REQUIRE(report.at("results").at("dropped").size() > 0);
    CHECK(contains(text_of(browser, "#training"),
                   report.at("results").at("dropped")[0].get<std::string>()));
    CHECK(contains(text_of(browser, "#raster"),
                   grouped(raster.at("spikes").get<std::uint64_t>()) + " spikes"));
    CHECK(browser.evaluate("state.runs[0].raster.csv()") == folder.read("one/raster.csv"));
    CHECK(browser.evaluate("document.querySelectorAll('#raster option').length") == 2);
    const std::string picture = "document.querySelector('#raster canvas').toDataURL()";
    const Json first = browser.evaluate(picture);
    browser.evaluate(
        "(() => { const box = document.getElementById('raster-sample'); box.value = 1; "
        "box.dispatchEvent(new Event('change')); })()");
    CHECK(browser.evaluate(picture) != first);
    check_drawn(browser);
    check_quiet(browser, folder.path() / "one/report.html");
  }
}
