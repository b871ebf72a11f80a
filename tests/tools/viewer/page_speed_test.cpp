#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/tools/viewer/large_run.h"
#include "tests/tools/viewer/page.h"

using namespace tessera::test;

/// Must run alone, since it measures time.
namespace {

/// Milliseconds from the start of the navigation to the first full paint.
double paint_milliseconds(Chromium& browser) {
  return browser.evaluate("performance.getEntriesByName('painted')[0].startTime").get<double>();
}

/// The slowest of eight zoom steps of the mouse wheel, from the whole run inwards, in milliseconds
/// until its frame is drawn. Each step's time is the best of six, since the host may be busy.
double zoom_milliseconds(Chromium& browser) {
  const Json slowest = browser.evaluate(R"((async () => {
    document.getElementById('timeline').scrollIntoView();
    const canvas = document.getElementById('timeline-canvas');
    const frame = () => new Promise(requestAnimationFrame);
    const best = new Array(8).fill(Infinity);
    for (let attempt = 0; attempt < 6; ++attempt) {
      showAll(theRun());
      for (let i = 0; i < best.length; ++i) {
        await frame();
        const before = performance.now();
        canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -150, clientX: 700, clientY: 300}));
        await frame();
        await new Promise(done => setTimeout(done));
        best[i] = Math.min(best[i], performance.now() - before);
      }
    }
    return Math.max(...best);
  })())");
  return slowest.get<double>();
}

}  // namespace

TEST_SUITE("speed") {
  TEST_CASE("large runs paint within 3 s, zoom within 100 ms and take less than 12 MB") {
    NEEDS_CHROMIUM();
    const CommandFolder folder;
    run_product(folder, "run - --out sample");
    const Json sample = folder.json("sample/report.json");
    const tessera::test::LargeRun runs[] = {{1472, 10'000, 2500}, {100'000, 40, 40}};
    for (const tessera::test::LargeRun& large : runs) {
      CAPTURE(large.tiles);
      tessera::test::write_large_run(folder.path() / "large", sample, large);
      run_product(folder, "report large");
      const auto page = folder.path() / "large/report.html";
      CHECK(std::filesystem::file_size(page) < 12'000'000);
      Chromium browser(folder.path() / ".profile");
      double painted = 1e9;
      for (int attempt = 0; attempt < 3; ++attempt) {  // the machine may be busy
        browser.open(page);
        painted = std::min(painted, paint_milliseconds(browser));
      }
      const double zoomed = zoom_milliseconds(browser);
      MESSAGE(large.tiles << " tiles, " << large.supersteps << " supersteps: "
                          << std::filesystem::file_size(page) << " bytes, painted after " << painted
                          << " ms, the slowest zoom " << zoomed << " ms");
      CHECK(painted < 3000);
      CHECK(zoomed < 100);
      CHECK(browser.evaluate("state.to - state.from < state.runs[0].history.end / 10") == true);
      check_quiet(browser, page);
    }
  }
}
