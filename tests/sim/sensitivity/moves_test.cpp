#include "sim/sensitivity/moves.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "sim/config/json_text.h"
#include "sim/config/presets.h"
#include "tests/cli/command.h"

using namespace tessera;

namespace {

const Catalogue& catalogue() {
  static const Catalogue kCatalogue = kernels::catalogue();
  return kCatalogue;
}

config::Config config_of(const std::string& machine) {
  const config::Layers layers(
      config::parse_json(
          test::with_kernel(R"({"machine": )" + machine + R"(, "workload": {"kernel": "KERNEL"}})"),
          "test"),
      "test.json");
  return config::read_config(layers, "test", catalogue(), config::machine_presets());
}

sensitivity::Key moved(const std::string& machine, const std::string& path, double by = 2) {
  for (sensitivity::Key& key :
       sensitivity::moved_keys(config_of(machine), by, catalogue(), config::machine_presets()))
    if (key.number.path == "machine." + path) return key;
  FAIL("no key " << path);
  return {};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("keys are those of the declarations: every number of the resolved machine, in order") {
    const config::Config config = config_of(R"({"extends": "bow"})");
    std::vector<std::string> expected;
    const std::function<void(const config::Json&, const std::string&)> walk =
        [&](const config::Json& json, const std::string& path) {
          if (json.is_number()) expected.push_back(path);
          if (json.is_object())
            for (const auto& [key, value] : json.items())
              walk(value, fmt::format("{}.{}", path, key));
          if (json.is_array())
            for (std::size_t i = 0; i < json.size(); ++i)
              walk(json[i], path + "[" + std::to_string(i) + "]");
        };
    walk(config.resolved.at("machine"), "machine");
    CHECK(expected.size() > 100);
    std::vector<std::string> found;
    for (const auto& key :
         sensitivity::moved_keys(config, 2, catalogue(), config::machine_presets()))
      found.push_back(key.number.path);
    CHECK(found == expected);
  }

  TEST_CASE("a key that nothing reads is none: rates of an ideal fabric") {
    const config::Config config = config_of(R"({"extends": "bow", "fabric": {"kind": "ideal"}})");
    for (const auto& key :
         sensitivity::moved_keys(config, 2, catalogue(), config::machine_presets()))
      CHECK(key.number.path != "machine.fabric.send_bytes_per_cycle");
  }

  TEST_CASE("a key moves to the nearest value that the config allows, on its own side") {
    const sensitivity::Key tiles = moved(R"({"extends": "bow", "tiles": 5})", "tiles");
    CHECK(tiles.low.value == 3);  // its ratio to 2.5 is closer than that of 2
    CHECK(tiles.high.value == 10);
    // Outputs of the matrix unit must be powers of two.
    const sensitivity::Key outputs =
        moved(R"({"extends": "bow"})", "tile.matrix_unit.f16.outputs", 3);
    CHECK(outputs.low.value == 8);
    CHECK(outputs.high.value == 64);
    // The points of the voltage table end at 0.695 and 4.173 GHz.
    const sensitivity::Key clock = moved(R"({"extends": "bow", "clock_ghz": 1.0})", "clock_ghz", 8);
    CHECK(*clock.low.value == doctest::Approx(0.695).epsilon(1e-6));
    CHECK(*clock.high.value == doctest::Approx(4.173).epsilon(1e-6));
    // A type that the unit lacks has no sizes.
    const sensitivity::Key none = moved(R"({"extends": "bow"})", "tile.matrix_unit.i8.outputs");
    CHECK(none.held.find("is 0") == 0);
  }

  TEST_CASE("a key of 0 has no ratio, and a key of 1 that may be 0 is only raised") {
    CHECK(moved(R"({"extends": "bow"})", "fabric.cycles_per_hop").held.find("is 0") == 0);
    const sensitivity::Key join =
        moved(R"({"extends": "bow", "tile": {"supervisor": {"join_cycles": 1}}})",
              "tile.supervisor.join_cycles");
    CHECK_FALSE(join.low.value);
    CHECK(join.high.value == 2);
  }

  TEST_CASE("points of a table are keys by their places") {
    const sensitivity::Key point = moved(R"({"extends": "bow"})", "energy.voltage[2].ghz");
    // Stays between its neighbours.
    CHECK(*point.low.value == doctest::Approx(1.391).epsilon(1e-6));
    CHECK(*point.high.value == doctest::Approx(3.895).epsilon(1e-6));
  }
}
