#pragma once

#include <initializer_list>
#include <map>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/models/in_child.h"
#include "tests/models/memory/random_external.h"
#include "tests/models/overlap/random_overlap.h"
#include "tests/models/overlap/stepper.h"
#include "tests/refusal.h"

/// Compares random programs on a machine and on the stepper.
namespace tessera::sample {

inline IssueKind random_issue(const Draw& one_of) {
  return one_of({0, 1, 2}) == 0 ? IssueKind::revolver : IssueKind::barrel;
}

/// A total rate of `times` the fabric's: one fast port, or `times` ports.
inline PortConfig ports_of(PortConfig::Direction direction, std::uint32_t rate, std::uint32_t times,
                           bool fast) {
  return {direction, fast ? rate * times : rate, fast ? 1 : times};
}

inline NodeConfig random_nodes(const MachineConfig& machine, std::uint32_t number,
                               const Draw& one_of) {
  using Direction = PortConfig::Direction;
  NodeConfig node{number == 0 ? "memory" : "other", one_of({1, 1, 2, 3}), machine.tile, {}};
  node.tile.sram_kib = one_of({24, 32, 40, 64});
  node.tile.contexts = one_of({0, 0, 1, 2, 6});
  node.tile.issue = random_issue(one_of);
  node.tile.reissue_cycles = node.tile.issue == IssueKind::revolver ? 11 : 0;
  node.tile.supervisor.plain_cycles = node.tile.issue == IssueKind::barrel ? one_of({1, 2}) : 1;
  if (machine.fabric.kind == "ideal" || one_of({0, 1}) == 0) return node;
  const std::uint32_t rate = machine.fabric.send_bytes_per_cycle;
  const std::uint32_t sends = one_of({0, 1, 2, 3, 4});
  const std::uint32_t receives = one_of({1, 2, 4});
  if (sends > 0) node.ports.push_back(ports_of(Direction::send, rate, sends, one_of({0, 1}) == 0));
  node.ports.push_back(ports_of(Direction::receive, rate, receives, one_of({0, 1}) == 0));
  return node;
}

/// Workers of all node classes share their pipelines and access external memory themselves.
inline void let_workers_transfer(MachineConfig& config, const Draw& one_of) {
  config.external.worker_dma = WorkerDmaConfig{8, one_of({8, 64})};
  const auto share = [&](TileConfig& tile) {
    tile.issue = one_of({0, 1}) == 0 ? IssueKind::interleaved : IssueKind::revolver;
    tile.reissue_cycles = tile.issue == IssueKind::revolver ? 11 : 0;
    tile.supervisor.plain_cycles = 1;
  };
  share(config.tile);
  for (NodeConfig& node : config.nodes) share(node.tile);
}

/// Up to twelve nodes in up to three classes, including the compute tiles.
inline MachineConfig random_machine(std::mt19937& random) {
  const Draw one_of = [&random](std::initializer_list<std::uint32_t> values) {
    return values.begin()[random() % values.size()];
  };
  MachineConfig config = machine(1 + static_cast<std::uint32_t>(random() % 6));
  config.tile.sram_kib = 32;
  config.tile.issue = random_issue(one_of);
  config.sync.chip_cycles = one_of({0, 1, 90});
  config.fabric.kind = random() % 4 == 0 ? "ideal" : "scheduled";
  config.fabric.fixed_cycles = one_of({0, 7, 100});
  config.fabric.send_bytes_per_cycle = config.fabric.receive_bytes_per_cycle = one_of({1, 4, 16});
  config.fabric.pair_sharing = false;
  config.tile.overlap = one_of({0, 1, 1, 1}) == 1;
  config.host.latency_us = one_of({0, 1, 30}) * 1e-3;
  config.host.gigabytes_per_second = one_of({1, 4, 64});
  if (one_of({0, 1, 1}) == 1) {
    config.has_external = true;
    config.external = random_external(one_of);
  }
  const std::uint32_t classes = one_of({0, 1, 1, 2});
  for (std::uint32_t i = 0; i < classes; ++i)
    config.nodes.push_back(random_nodes(config, i, one_of));
  if (config.has_external && config.external.reach == ExternalReach::tile && one_of({0, 1, 1}) == 1)
    let_workers_transfer(config, one_of);
  return config;
}

/// A tile's statistics, as text.
inline std::string text(const TileRecord& tile) {
  return fmt::format("{} {} {} {} {} {} {}\n", tile.compute.count(), tile.exchange.count(),
                     tile.sync.count(), tile.instructions, tile.sent.count(), tile.received.count(),
                     tile.external.count());
}

/// The wait reason of each node, from a message that groups nodes in the same state: "tiles 2-3, 5
/// (memory): in exchange 0, ..., pc ...".
inline std::map<std::uint32_t, std::string> waits_of(const std::string& message) {
  std::map<std::uint32_t, std::string> waits;
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("  tile") || test::holds(line, ": ended at")) continue;
    std::istringstream ranges(line.substr(line.find(' ', 2), colon - line.find(' ', 2)));
    for (std::string range; std::getline(ranges, range, ',');) {
      const auto first = static_cast<std::uint32_t>(std::stoul(range));
      const std::size_t dash = range.find('-');
      const auto last = dash == std::string::npos
                            ? first
                            : static_cast<std::uint32_t>(std::stoul(range.substr(dash + 1)));
      const std::size_t kind = line.find(" (");
      const std::string name =
          kind < colon ? line.substr(kind + 2, line.find(')', kind) - kind - 2) : "";
      for (std::uint32_t tile = first; tile <= last; ++tile)
        waits[tile] = name + ": " + line.substr(colon + 2, line.find(", pc ") - colon - 2);
    }
  }
  return waits;
}

/// Differences between a machine's message about stuck nodes and their wait reasons on the stepper.
inline std::string stuck_difference(const MachineConfig& config, const Stepper& stepper,
                                    const std::string& message) {
  std::string expected = "no progress: nothing will release the tiles that wait\n";
  std::string found = message.substr(0, message.find('\n') + 1);
  for (const Tile& tile : stepper.tiles()) {
    const NodeConfig* const its = class_of(config, index(tile.id()));
    const std::string waits = stepper.waits_for(tile);
    if (!waits.empty())
      expected +=
          fmt::format("{} {}: {}\n", index(tile.id()), its == nullptr ? "" : its->name, waits);
  }
  for (const auto& [tile, waits] : waits_of(message)) found += fmt::format("{} {}\n", tile, waits);
  return expected == found ? "" : fmt::format("stuck:\n{}instead of\n{}", found, expected);
}

/// Where the machine and the stepper differ for the program of that seed; "" if they agree.
inline std::string difference(std::uint32_t seed) {
  std::mt19937 random(seed);
  const MachineConfig config = random_machine(random);
  OverlapMaker maker(seed, config);
  const program::Program program = maker.make();
  const program::Images images = compile(program, config);
  Stepper stepper(config, program, images);
  const Cycle end = stepper.run();
  Simulation machine(config, program, images,
                     {.threads = 1 + seed % 3,
                      .check_races = seed % 2 == 0,
                      .measure_host = true,
                      .shuffle = seed % 5});
  if (stepper.stuck() && !maker.crosses()) return "the stepper is stuck";
  RunResult result;
  try {
    result = machine.run();
    if (stepper.stuck()) return "the machine is not stuck";
  } catch (const NoProgress& error) {
    return stuck_difference(config, stepper, error.what());
  }
  std::string expected;
  std::string found;
  Cycle last;
  for (const SuperstepRecord& step : result.steps)
    last = std::max(last, step.start + step.time.total());
  for (std::uint32_t i = 0; i < node_count(config); ++i) {
    expected += text(stepper.tiles()[i].statistics());
    found += text(result.tiles[i]);
  }
  if (expected != found) return fmt::format("tiles:\n{}instead of\n{}", found, expected);
  if (!result.steps.empty() && last > end) return fmt::format("{} > {}", last.count(), end.count());
  for (std::uint32_t id = 0; id < program.buffers().size(); ++id) {
    const program::Buffer& buffer = program.buffers()[id];
    std::vector<std::byte> bytes(buffer.bytes);
    machine.memory().read({program::BufferId{id}}, bytes);
    const auto stepped =
        stepper.bytes(buffer.tile).subspan(images.buffer_address[id].count(), buffer.bytes);
    if (!std::ranges::equal(bytes, stepped)) return fmt::format("bytes of buffer {}", id);
  }
  for (std::uint32_t id = 0; id < program.outers().size(); ++id) {
    std::vector<std::byte> bytes(program.outers()[id].bytes);
    machine.memory().read(program::OuterPlace{program::OuterId{id}}, bytes);
    if (!std::ranges::equal(bytes, stepper.outside(program, images, id)))
      return fmt::format("bytes of buffer {} outside", id);
  }
  for (const program::HostStream& stream : images.host_streams)
    if (!std::ranges::equal(machine.memory().written(stream.name), stepper.written(stream.name)))
      return fmt::format("what {} brings to the host", stream.name);
  return {};
}

inline void check_seeds(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    CHECK(in_child([&] { return difference(seed); }) == "");
  }
}

}  // namespace tessera::sample
