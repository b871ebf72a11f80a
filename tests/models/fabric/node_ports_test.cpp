#include "models/fabric/node_ports.h"

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "models/fabric/verify.h"
#include "tests/models/fabric/patterns.h"
#include "tests/refusal.h"

namespace tessera::fabric {
namespace {

using namespace patterns;
using Direction = PortConfig::Direction;

/// Four compute tiles, then two nodes with the rates of `sends` and `receives` fabric ports.
MachineConfig machine(std::uint32_t sends, std::uint32_t receives, bool pair_sharing = false) {
  MachineConfig config{.tiles = 4};
  config.fabric.pair_sharing = pair_sharing;
  NodeConfig memory{"memory", 2, config.tile, {}};
  if (sends > 0) memory.ports.push_back({Direction::send, 4, sends});
  if (receives > 0) memory.ports.push_back({Direction::receive, 4 * receives, 1});
  config.nodes.push_back(memory);
  return config;
}

program::CompiledExchange compiled(const MachineConfig& config, const Copies& copies) {
  const NodePorts ports(config);
  program::CompiledExchange exchange =
      make_exchange_compiler(config.fabric, ports)->compile(0, copies);
  verify_ports(exchange.lists, config.fabric, ports);
  CHECK(exchange.makespan >= exchange.bound);
  return exchange;
}

std::uint64_t makespan(const MachineConfig& config, const Copies& copies) {
  return compiled(config, copies).makespan.count();
}

/// Node 4 sends separate 400 bytes to every compute tile; or each tile sends 400 bytes to it.
Copies of_memory(bool from) {
  Layout layout(6);
  Copies copies;
  for (std::uint32_t tile = 0; tile < 4; ++tile)
    copies.push_back(multicast(layout, from ? 4 : tile, 400, {from ? tile : 4}));
  return copies;
}
Copies from_memory() { return of_memory(true); }
Copies to_memory() { return of_memory(false); }

std::string refusal(const MachineConfig& config, const Copies& copies) {
  return test::refusal([&] { return compiled(config, copies); });
}

}  // namespace

TEST_SUITE("theory") {
  TEST_CASE("a node feeds and listens to as many streams at once as it has ports") {
    for (const auto& each : {std::pair{1U, 400U}, {2U, 200U}, {3U, 168U}, {4U, 100U}}) {
      const auto [ports, cycles] = each;
      CAPTURE(each.first);
      CHECK(makespan(machine(ports, 1), from_memory()) == cycles);
      CHECK(makespan(machine(1, ports), to_memory()) == cycles);
    }
    // Cut streams nearly fill three ports; the bound assumes that they fill them.
    CHECK(compiled(machine(3, 1), from_memory()).bound == Cycle(134));
  }

  TEST_CASE("more ports of one class help no other") {
    Layout layout(6);
    const Copies within{multicast(layout, 0, 400, {1}), multicast(layout, 2, 400, {1})};
    CHECK(makespan(machine(8, 8), within) == 200);
  }

  TEST_CASE("random multicasts keep to the ports of every node") {
    const std::pair<std::uint32_t, std::uint32_t> rates[] = {{4, 4}, {16, 4}, {4, 8}, {4, 6}};
    for (const auto& rate : rates)
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto [send, receive] = rate;
        CAPTURE(rate.first);
        CAPTURE(rate.second);
        CAPTURE(seed);
        MachineConfig config = machine(1, 1, seed % 2 == 0);
        config.fabric.send_bytes_per_cycle = send;
        config.fabric.receive_bytes_per_cycle = receive;
        config.fabric.cycles_per_hop = seed % 3 == 0 ? 3 : 0;
        const auto times = static_cast<std::uint32_t>(1 + seed % 4);
        config.nodes[0].ports = {{Direction::send, send * times, 1},
                                 {Direction::receive, receive, times}};
        const Copies copies = random_multicasts(6, 3, {1, 4}, {1, 60}, seed);
        static_cast<void>(compiled(config, copies));
      }
  }
}

TEST_SUITE("unit") {
  TEST_CASE("a copy that needs a port which its node has not is refused") {
    CHECK(refusal(machine(0, 1), from_memory()) ==
          "exchange 0: tile 4 (memory) has no port to send (machine.nodes.ports)");
    CHECK(refusal(machine(1, 0), to_memory()) ==
          "exchange 0: tile 4 (memory) has no port to receive (machine.nodes.ports)");
    CHECK(refusal(machine(0, 1), to_memory()) == "");
    CHECK(refusal(machine(1, 0), from_memory()) == "");
  }

  TEST_CASE("a pair of nodes shares its ports if both are of one class") {
    const auto taken = [](std::uint32_t tiles, std::uint32_t first) {
      MachineConfig config = machine(1, 1, true);
      config.tiles = tiles;
      Layout layout(8);
      const Copies copies{multicast(layout, 0, 400, {first, first + 1})};
      return compiled(config, copies).ports.received.count();
    };
    CHECK(taken(4, 2) == 400);
    CHECK(taken(4, 4) == 400);
    CHECK(taken(3, 2) == 800);  // tile 2 and the first node of the class
  }
}

}  // namespace tessera::fabric
