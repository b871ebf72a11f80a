#include "tests/run/killed_sweep.h"

using namespace tessera;
using test::CommandFolder;

TEST_SUITE("slow") {
  TEST_CASE("a sweep killed twenty times in a row and resumed leaves the same bytes") {
    for (int repetition = 0; repetition < 3; ++repetition) test::check_killed_sweep(20, 5);
  }

  TEST_CASE("a point of a sweep costs at most 15 ms more than a run of its own") {
    const CommandFolder folder;
    std::vector<std::string> sweep = test::sweep_arguments(folder, 5);
    sweep.insert(sweep.end(), {"--out", "s"});
    const Stopwatch swept;
    REQUIRE(test::wait_for(test::start(folder, sweep)) == 0);
    const double a_point = 2 * swept.seconds() / 200;  // with two processes
    const std::vector<std::string> run = {"run",   "product.json",  "--out",     "r",
                                          "--set", "workload.k=32", "--threads", "1"};
    const Stopwatch alone;
    for (int i = 0; i < 50; ++i) REQUIRE(test::wait_for(test::start(folder, run)) == 0);
    const double a_run = alone.seconds() / 50;
    MESSAGE(fmt::format("{:.2f} ms a point, {:.2f} ms a run", 1e3 * a_point, 1e3 * a_run));
    CHECK(a_point < a_run + 0.015);
  }
}
