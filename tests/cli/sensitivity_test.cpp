#include <cmath>
#include <map>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

/// Tests of `tessera sensitivity`: how runs react to their machine.
namespace {

std::string small_product() { return product_config(8, R"("m": 96, "n": 128, "k": 160)"); }

Json stored(const CommandFolder& folder, const std::string& name) {
  return folder.json(name + "/sensitivity.json");
}

std::map<std::string, Json> by_key(const Json& found) {
  std::map<std::string, Json> keys;
  for (const Json& key : found.at("keys")) keys[key.at("key")] = key;
  return keys;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("predictions of slopes are those of simulated runs") {
    const CommandFolder folder{{"product.json", small_product()}};
    folder.done("sensitivity product.json --out p");
    folder.done(
        "sensitivity product.json --simulate --out s --quiet --key machine.tiles "
        "--key machine.clock_ghz --key machine.tile.contexts --key machine.tile.slots "
        "--key machine.tile.matrix_unit.f16 --key machine.tile.supervisor "
        "--key machine.fabric --key machine.energy.matrix_f16_pj");
    const auto expected = by_key(stored(folder, "p"));
    const auto simulated = by_key(stored(folder, "s"));
    std::size_t moved = 0;
    for (const auto& each : simulated) {
      const std::string& name = each.first;
      const Json& key = each.second;
      CAPTURE(name);
      for (const char* metric : {"time_slope", "energy_slope", "area_slope"}) {
        const Json& one = expected.at(name).at(metric);
        const Json& other = key.at(metric);
        CAPTURE(metric);
        CHECK(one.is_null() == other.is_null());
        if (one.is_null() || other.is_null()) continue;
        CHECK(std::abs(one.get<double>() - other.get<double>()) < 0.05);
        moved += std::abs(other.get<double>()) > 0.1;
      }
    }
    CHECK(moved > 10);
    CHECK(stored(folder, "s").at("simulated") == true);
  }

  TEST_CASE("keys are named as the table prints them, and may be moved together") {
    const CommandFolder folder{{"product.json", small_product()}};
    const std::string together = "fabric.send_bytes_per_cycle+fabric.receive_bytes_per_cycle";
    const Answer answer = folder.done(fmt::format(
        "sensitivity product.json --out p --key {} --key fabric.send_bytes_per_cycle --key "
        "machine.fabric.receive_bytes_per_cycle",
        together));
    CHECK(holds(answer.out, "\n  " + together + " "));
    const auto keys = by_key(stored(folder, "p"));
    CHECK(keys.size() == 3);
    const auto slope = [&](const std::string& key) {
      return keys.at("machine." + key).at("time_slope").get<double>();
    };
    CHECK(slope(together) < slope("fabric.send_bytes_per_cycle"));
    CHECK(slope(together) < slope("fabric.receive_bytes_per_cycle"));
    const Answer all = folder.done("sensitivity product.json --out p --key tile.latency");
    CHECK(holds(all.out, "of two that bind together neither shows; --key A+B moves both"));
    check_refused(folder, "sensitivity product.json --out p --key tiles+tile.contets",
                  {"found machine.tile.contets", "did you mean machine.tile.contexts?"});
  }

  TEST_CASE("elements of lists go by their names, or by numbers") {
    const CommandFolder folder{{"array.json", with_kernel(R"({"machine": "xdna1",
        "workload": {"kernel": "PRODUCT", "m": 32, "n": 32, "k": 32, "dtype": "i8"}})")}};
    for (const char* key :
         {"fabric.streams[4].bytes_per_cycle", "machine.fabric.streams[load].bytes_per_cycle"}) {
      CHECK(holds(folder.done(fmt::format("sensitivity array.json --out r --key {}", key)).out,
                  "\n  fabric.streams[load].bytes_per_cycle "));
      CHECK(by_key(stored(folder, "r")).contains("machine.fabric.streams[load].bytes_per_cycle"));
    }
  }

  TEST_CASE("the result does not depend on how many points are planned at a time") {
    const CommandFolder folder{{"product.json", small_product()}};
    for (const std::string jobs : {"1", "3"})
      folder.done(
          fmt::format("sensitivity product.json --quiet --key machine.tile.latency --key "
                      "machine.tiles --key machine.energy.area --jobs {0} --out j{0}",
                      jobs));
    CHECK(folder.read("j1/sensitivity.json") == folder.read("j3/sensitivity.json"));
    CHECK(folder.read("j1/sensitivity.csv") == folder.read("j3/sensitivity.csv"));
  }

  TEST_CASE("area and energy are absent where the machine has no table; loops have no energy") {
    const CommandFolder folder;
    folder.done("sensitivity - --out r --key machine.clock_ghz",
                with_kernel(R"({"machine": {"extends": "bow", "tiles": 4, "energy": null},
                                       "workload": {"kernel": "KERNEL", "elements_per_worker": 60}})"));
    const Json found = stored(folder, "r");
    CHECK(found.at("energy").is_null());
    CHECK(found.at("area").is_null());
    CHECK(found.at("keys").at(0).at("time_slope").get<double>() == doctest::Approx(-1));
  }
}

TEST_SUITE("cli") {
  TEST_CASE("a config that does not fit says so as check does, and leaves no table") {
    const CommandFolder folder;
    const Answer answer = folder.call("sensitivity - --out r",
                                      product_config(1, R"("m": 4096, "n": 4096, "k": 4096)"));
    CHECK(answer.code == 2);
    CHECK(holds(answer.err, with_kernel("no plan of PRODUCT")));
    CHECK_FALSE(folder.has("r/sensitivity.json"));
  }

  TEST_CASE("the folder of another run is refused; beside its own run the page shows it") {
    const CommandFolder folder{{"product.json", small_product()}};
    folder.done("run product.json --out r --quiet");
    const Answer refused = folder.call("sensitivity product.json --set workload.m=64 --out r");
    CHECK(refused.code == 2);
    CHECK(holds(refused.err, "holds the report of another run"));
    folder.done("sensitivity product.json --out r --quiet --key machine.tiles");
    folder.done("report r");
    CHECK(holds(folder.read("r/report.html"), "\"key\":\"machine.tiles\""));
    folder.write("r/sensitivity.json", "{}");
    const Answer broken = folder.call("report r");
    CHECK(broken.code == 2);
    CHECK(holds(broken.err, "r/sensitivity.json: is not what tessera sensitivity writes"));
  }
}
