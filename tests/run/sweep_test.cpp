#include <fstream>

#include "kernels/catalogue.h"
#include "models/costs/measured_costs.h"
#include "sim/sweep/points.h"
#include "tests/refusal.h"
#include "tests/run/killed_sweep.h"

using namespace tessera;
using test::CommandFolder;

TEST_SUITE("run") {
  TEST_CASE("a sweep that was killed and goes on leaves the same bytes") {
    test::check_killed_sweep(5);
  }

  TEST_CASE("a point whose process was killed is run again") {
    const CommandFolder folder;
    std::vector<std::string> arguments = test::sweep_arguments(folder);
    arguments.insert(arguments.end(), {"--out", "s"});
    const pid_t process = test::start(folder, arguments);
    int killed = 0;
    for (int tries = 0; killed < 3 && tries < 1000; ++tries) {
      std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
      pid_t child = 0;
      if (children >> child && ::kill(child, SIGKILL) == 0) ++killed;
      ::usleep(20'000);
    }
    CHECK(killed == 3);
    CHECK(test::wait_for(process) == 0);
    const std::string csv = folder.read("s/results.csv");
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 81);
    CHECK(!test::holds(csv, "died"));
  }

  TEST_CASE("every file of configs/sweeps has points, of which the last is planned") {
    const Catalogue catalogue = kernels::catalogue();
    const std::vector<config::Preset> machines = config::machine_presets();
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TESSERA_SOURCE) + "/configs/sweeps")) {
      CAPTURE(entry.path().string());
      const sweep::Sweep sweep(entry.path().string(), {}, {}, catalogue, machines);
      sweep::PointIds ids("1");
      const std::vector<sweep::Point> points = sweep.points(ids);
      const config::Config config = sweep.config(points.back());
      MeasuredCosts costs(config.machine);
      CHECK(config.workload->plan(costs)->prediction().cycles > 0);
    }
  }

  TEST_CASE("the quick shipped sweep runs and all its checks pass") {
    const CommandFolder folder;
    const test::Answer answer = folder.done(
        fmt::format("sweep {}/configs/sweeps/gemm_shapes.json --out s", TESSERA_SOURCE));
    CHECK(answer.out.starts_with("gemm_shapes: 78 points, 78 run now: 78 done\n"));
  }
}
