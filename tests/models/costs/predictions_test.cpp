#include <algorithm>
#include <span>
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

/// The smallest point of every kernel, on a machine whose contexts share a pipeline.
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

/// The plan and the predicted cycles, as text.
std::string answer(const config::Config& config, MachineCosts& costs) {
  const std::unique_ptr<Workload> workload = config.workload->plan(costs);
  return fmt::format("{} {}", workload->plan().dump(), workload->prediction().cycles);
}

/// The answers of all configs, one after the other.
std::vector<std::string> answers(std::span<const config::Config> configs, MachineCosts& costs) {
  std::vector<std::string> found;
  for (const config::Config& config : configs) found.push_back(answer(config, costs));
  return found;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("plans and predictions are the same cold and warm, on any number of host threads") {
    const std::vector<config::Config> all = configs();
    std::vector<std::string> warm, backwards, alone;
    // In parallel with this thread: in reverse order, and each with its own costs.
    std::thread other([&] {
      MeasuredCosts costs(all.front().machine);
      for (std::size_t i = all.size(); i-- > 0;) backwards.push_back(answer(all[i], costs));
    });
    std::thread each([&] {
      for (const config::Config& config : all) {
        MeasuredCosts costs(config.machine);
        alone.push_back(answer(config, costs));
      }
    });
    MeasuredCosts costs(all.front().machine);
    const std::vector<std::string> cold = answers(all, costs);
    warm = answers(all, costs);
    other.join();
    each.join();
    CHECK(warm == cold);
    CHECK(alone == cold);
    std::ranges::reverse(backwards);
    CHECK(backwards == cold);
  }
}
