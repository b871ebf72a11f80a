#include "sim/machine/external_config.h"

#include <doctest/doctest.h>

#include "sim/config/reader.h"
#include "sim/config/writers.h"
#include "sim/machine/machine_config.h"

using namespace tessera;
using config::Json;

namespace {

MachineConfig machine_with(const Json& external) {
  const config::Layers layers(Json{{"external", external}}, "a.json");
  MachineConfig machine;
  config::Reader(layers, layers.value(), "machine").read(machine);
  return machine;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a platform's memory has a capacity, and no channels") {
    MachineConfig machine = machine_with(Json::parse(
        R"({"model": "platform", "mib_per_channel": 3, "way_cycles": 1, "request_bytes": 4096})"));
    CHECK(machine.external.bytes() == 3U << 20);
    CHECK(machine.external.least_cycles(640, 2, machine.clock_ghz) == 10);
    const Json written =
        config::resolved([&](config::Fields& fields) { describe(fields, machine.external); });
    CHECK(written.at("model") == "platform");
    for (const char* unused : {"channels", "interleave_bytes", "window", "dram"})
      CHECK_FALSE(written.contains(unused));
    MachineConfig again = machine_with(written);
    CHECK(config::resolved([&](config::Fields& fields) { describe(fields, again.external); }) ==
          written);
  }
}
