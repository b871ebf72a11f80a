#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/catalogue.h"
#include "models/costs/measured_costs.h"
#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "tests/kernels/points.h"

using namespace tessera;

namespace {

/// A point of every kernel on a machine whose contexts compete.
std::vector<config::Config> configs() {
  static const Catalogue kCatalogue = kernels::catalogue();
  std::vector<config::Config> made;
  for (const test::Point& point : test::small_points()) {
    std::vector<std::string> sets = {"machine=bow", "machine.tiles=16",
                                     "machine.tile.issue=interleaved", "machine.tile.contexts=8"};
    sets.insert(sets.end(), point.sets.begin(), point.sets.end());
    const std::string file = fmt::format("{}/configs/runs/{}.json", TESSERA_SOURCE, point.config);
    made.push_back(config::load_config(file, sets, kCatalogue, config::machine_presets()));
  }
  return made;
}

/// Plans and predicted cycles of all, one after the other.
std::vector<std::string> answers(const std::vector<config::Config>& configs, MachineCosts& costs) {
  std::vector<std::string> found;
  for (const config::Config& config : configs) {
    const std::unique_ptr<Workload> workload = config.workload->plan(costs);
    found.push_back(fmt::format("{} {}", workload->plan().dump(), workload->prediction().cycles));
  }
  return found;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("plans and predictions are the same cold and warm") {
    const std::vector<config::Config> all = configs();
    MeasuredCosts costs(all.front().machine);
    const std::vector<std::string> cold = answers(all, costs);
    CHECK(answers(all, costs) == cold);
    for (std::size_t i = 0; i < all.size(); ++i) {
      MeasuredCosts alone(all[i].machine);
      const std::unique_ptr<Workload> workload = all[i].workload->plan(alone);
      CHECK(fmt::format("{} {}", workload->plan().dump(), workload->prediction().cycles) ==
            cold[i]);
    }
  }

  TEST_CASE("plans and predictions are the same on any number of host threads") {
    const std::vector<config::Config> all = configs();
    MeasuredCosts costs(all.front().machine);
    const std::vector<std::string> expected = answers(all, costs);
    std::vector<std::vector<std::string>> found(3);
    std::vector<std::thread> threads;
    threads.reserve(found.size());
    for (std::vector<std::string>& each : found) {
      threads.emplace_back([&] {
        MeasuredCosts own(all.front().machine);
        each = answers(all, own);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<std::string>& each : found) CHECK(each == expected);
  }
}
