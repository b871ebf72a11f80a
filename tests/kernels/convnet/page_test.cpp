#include "tests/tools/viewer/page.h"

#include "sim/report/units.h"

/// What a network on an array shows on its page and in `report --top`: stages, not supersteps of
/// single nodes.
namespace tessera::test {
namespace {

constexpr const char* kConfig =
    R"({"machine": "aie2_2x2", "workload": {"kernel": "convnet", "network": "resnet8"}})";

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("the top of a run on an array is its stages") {
    const CommandFolder folder;
    folder.done("run - --out one", kConfig);
    const Answer top = folder.done("report one --top");
    CHECK(contains(top.out, "\n  stage "));
    CHECK(contains(top.out, "\n  stack1_conv1 "));
    CHECK(contains(top.out, "\n  load "));
    CHECK(top.out.find("largest supersteps") == std::string::npos);
    const auto cycles = folder.json("one/report.json")["time"]["cycles"].get<std::uint64_t>();
    CHECK(contains(top.out, fmt::format(": {} cycles in ", report::grouped(cycles))));
  }
}

TEST_SUITE("browser") {
  TEST_CASE("the page of runs on arrays shows stages, mappings as a table, and rates in OP/s") {
    NEEDS_CHROMIUM();
    const CommandFolder folder;
    folder.done("run - --out one", kConfig);
    folder.done("run - --out two --set workload.plan.rules=published", kConfig);
    folder.done("report one two");
    Chromium browser(folder.path() / ".profile");
    browser.open(folder.path() / "two/comparison.html");
    check_drawn(browser);
    const std::string compared = text_of(browser, "#compare");
    CHECK(contains(compared, "OP/s"));
    CHECK(compared.find("FLOP/s") == std::string::npos);
    CHECK(contains(compared, "plan.layers.stack1_conv1.rows"));
    CHECK(compared.find("[{") == std::string::npos);
    CHECK(contains(compared, "stack3_conv2"));
    CHECK(browser.evaluate("document.querySelectorAll('#where table').length") == 0);
    CHECK(contains(text_of(browser, "#stages"), "stack1_conv1"));
    CHECK(text_of(browser, "#config").find("[{") == std::string::npos);
    CHECK(contains(text_of(browser, "#config"), "stack1_conv1"));
    check_quiet(browser, folder.path() / "two/comparison.html");
  }
}

}  // namespace tessera::test
