#include "sim/machine/nodes.h"

#include <doctest/doctest.h>

#include "sim/config/reader.h"
#include "sim/config/writers.h"
#include "tests/refusal.h"

using namespace tessera;
using config::Json;

namespace {

MachineConfig machine_of(const Json& values) {
  const config::Layers layers(values, "a.json");
  MachineConfig machine;
  config::Reader(layers, layers.value(), "machine").read(machine);
  return machine;
}

/// The error message for a machine with these nodes and other keys.
std::string mistake(const char* nodes, const char* others = "{}") {
  Json values = Json::parse(others);
  values["nodes"] = Json::parse(nodes);
  return test::refusal([&] { return machine_of(values); });
}

constexpr const char* kMachine = R"({"tiles": 6, "tile": {"sram_kib": 256, "contexts": 4},
    "nodes": [{"name": "memory", "count": 3, "tile": {"sram_kib": 1024, "contexts": 0},
               "ports": [{"direction": "send", "bytes_per_cycle": 8, "count": 2},
                         {"direction": "send"}]},
              {"name": "other", "tile": {"issue": "revolver", "reissue_cycles": 11}}]})";

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("nodes of other classes follow the tiles, and what they leave out is the tile's") {
    const MachineConfig machine = machine_of(Json::parse(kMachine));
    CHECK(node_count(machine) == 10);
    CHECK(class_of(machine, 5) == nullptr);
    CHECK(class_of(machine, 6)->name == "memory");
    CHECK(class_of(machine, 8)->name == "memory");
    CHECK(class_of(machine, 9)->name == "other");
    CHECK(tile_of(machine, 0).contexts == 4);
    CHECK(tile_of(machine, 7).contexts == 0);
    CHECK(tile_of(machine, 9).contexts == 4);
    CHECK(tile_of(machine, 9).sram_kib == 256);
    CHECK(tile_of(machine, 9).issue == IssueKind::revolver);
    CHECK(node_name(machine, 2) == "tile 2");
    CHECK(node_name(machine, 6) == "tile 6 (memory)");
  }

  TEST_CASE("SRAMs lie without gaps by node") {
    const MachineConfig machine = machine_of(Json::parse(kMachine));
    constexpr std::uint64_t kKib = 1024;
    CHECK(sram_address(machine, 5) == 5 * (256 * kKib));
    CHECK(sram_address(machine, 6) == 6 * (256 * kKib));
    CHECK(sram_address(machine, 7) == (6 * 256 + 1024) * kKib);
    CHECK(sram_address(machine, 9) == (6 * 256 + 3 * 1024) * kKib);
    CHECK(sram_end(machine) == (7 * 256 + 3 * 1024) * kKib);
  }

  TEST_CASE("ports are multiples of the fabric's, and a direction that is left out has none") {
    using Direction = PortConfig::Direction;
    const MachineConfig machine = machine_of(Json::parse(kMachine));
    CHECK(port_factor(machine, machine.nodes[0], Direction::send) == 5);
    CHECK(port_factor(machine, machine.nodes[0], Direction::receive) == 0);
    CHECK(port_factor(machine, machine.nodes[1], Direction::send) == 1);
    CHECK(port_factor(machine, machine.nodes[1], Direction::receive) == 1);
  }

  TEST_CASE("the resolved nodes are read as the same") {
    const auto resolved = [](MachineConfig& machine) {
      return config::resolved([&](config::Fields& fields) { describe(fields, machine); });
    };
    MachineConfig machine = machine_of(Json::parse(kMachine));
    const Json once = resolved(machine);
    const Json& memory = once["nodes"][0]["tile"];
    CHECK(memory["sram_kib"] == 1024);
    CHECK(memory["supervisor"]["launch_cycles"] == 0);
    for (const char* unused : {"matrix_unit", "slots", "latency", "worker_stack_bytes"})
      CHECK_FALSE(memory.contains(unused));
    MachineConfig again = machine_of(once);
    CHECK(resolved(again) == once);
    const std::string rows =
        config::markdown([&](config::Fields& fields) { describe(fields, again); }, "machine");
    CHECK(test::holds(rows, "| `machine.nodes[].ports[].direction` |"));
  }

  TEST_CASE("a node without workers may have the pipeline of a revolver, its supervisor's") {
    CHECK(mistake(R"([{"name": "a", "tile": {"contexts": 0, "latency": {"load": 3},
                       "issue": "revolver", "reissue_cycles": 2}}])") == "");
  }
}
