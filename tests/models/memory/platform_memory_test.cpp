#include <optional>

#include <doctest/doctest.h>

#include "models/machine.h"
#include "models/simulation.h"
#include "tests/models/in_child.h"
#include "tests/models/memory/four_phase_target.h"
#include "tests/models/memory/memory_target.h"
#include "tests/models/sample_machine.h"
#include "tests/refusal.h"

#include "include/tessera/four_phase_adapter.h"

using namespace tessera;
using sample::MemoryTarget;
using sc_core::SC_FS;
using sc_core::SC_NS;
using sc_core::sc_time;

namespace {

/// Call only after the time resolution is set.
sc_time nanoseconds(double value) { return {value, SC_NS}; }

constexpr std::uint32_t kMovedBytes = 256;
constexpr std::size_t kHeldBytes = 1 << 20;

MachineConfig platform_machine(std::uint32_t tiles) {
  MachineConfig config = sample::machine(tiles);
  config.clock_ghz = 1.0;
  config.has_external = true;
  config.external.model = ExternalModel::platform;
  config.external.mib_per_channel = 1;
  config.external.request_bytes = 64;
  config.external.dma_bytes_per_cycle = 16;
  config.external.setup_cycles = 5;
  config.external.way_cycles = 10;
  return config;
}

/// Each tile reads 256 bytes, then writes them to another address.
struct Moving {
  explicit Moving(const MachineConfig& machine) : config(machine), program(config.tiles) {
    program::Exchange in{"in", {}};
    program::Exchange out{"out", {}};
    for (std::uint32_t i = 0; i < config.tiles; ++i) {
      const program::BufferId id = program.add_buffer(
          {.tile = TileId{i}, .bytes = kMovedBytes, .contents = {}, .name = "buffer"});
      const auto fill = [i](std::uint64_t at, std::span<std::byte> bytes) {
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(at++ * 7 + i);
      };
      from.push_back(program.add_outer({"from", kMovedBytes, TileId{i}, true, fill}));
      to.push_back(program.add_outer({"to", kMovedBytes, TileId{i}, true}));
      in.outside.push_back({{id}, {from.back()}, kMovedBytes});
      out.outside.push_back({{id}, {to.back()}, kMovedBytes});
      out.outside.back().outward = true;
    }
    program.main().steps = {
        {program::ComputeSet{"warm up", {}}, false}, {std::move(in), true}, {std::move(out), true}};
    images = sample::compile(program, config);
  }
  void require_moved(const MachineModule& module) const {
    for (std::uint32_t i = 0; i < config.tiles; ++i) {
      std::vector<std::byte> first(kMovedBytes), second(kMovedBytes);
      module.memory().read(program::OuterPlace{from[i]}, first);
      module.memory().read(program::OuterPlace{to[i]}, second);
      check(first == second && first[1] == std::byte(7 + i), "bytes of tile {}", i);
    }
  }
  MachineConfig config;
  program::Program program;
  program::Images images;
  std::vector<program::OuterId> from, to;
};

struct PlatformScene {
  PlatformScene(const Moving& moving, double waits, double adds, const char* name = "machine",
                const RunOptions& options = {})
      : module(name, moving.config, moving.program, moving.images, options),
        memory((std::string(name) + "_memory").c_str(), kHeldBytes, nanoseconds(waits),
               nanoseconds(adds)) {
    module.outside.bind(memory.socket);
  }
  MachineModule module;
  MemoryTarget memory;
};

/// A PlatformScene whose memory has four phases and is behind an adapter.
struct FourPhaseScene {
  FourPhaseScene(const Moving& moving, sample::FourPhaseTarget::Style style)
      : module("machine", moving.config, moving.program, moving.images, {}),
        adapter("adapter"),
        memory("memory", kHeldBytes, style) {
    module.outside.bind(adapter.target);
    adapter.initiator.bind(memory.socket);
  }
  MachineModule module;
  FourPhaseAdapter<64> adapter;
  sample::FourPhaseTarget memory;
};

void run_all(const Moving& moving, std::initializer_list<MachineModule*> modules) {
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (MachineModule* module : modules) {
    module->load(moving.program, moving.images, 0);
    check(module->start(), "not started");
  }
  sc_core::sc_start();
  for (MachineModule* module : modules)
    if (const std::exception_ptr failure = module->failure()) std::rethrow_exception(failure);
}

/// The error of a run of tiles that move bytes on a platform, after `change` of its memory.
std::string failure_of(const MachineConfig& config,
                       const std::function<void(MemoryTarget&)>& change = {}) {
  return in_child([&] {
    const Moving moving(config);
    PlatformScene platform(moving, 20, 0);
    if (change) change(platform.memory);
    run_all(moving, {&platform.module});
    return std::string();
  });
}

/// The error on loading a machine bound to a memory of `memory` bytes; 0: unbound.
std::string refusal_to_load(std::size_t memory) {
  return in_child([&] {
    const Moving moving(platform_machine(1));
    MachineModule module("machine", moving.config, moving.program, moving.images, {});
    std::optional<MemoryTarget> small;
    if (memory > 0)
      module.outside.bind(small.emplace("small", memory, nanoseconds(0), nanoseconds(0)).socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    module.load(moving.program, moving.images, 0);
    return std::string();
  });
}

/// The part of a result that the tests compare.
std::string shown(const RunResult& result) {
  return fmt::format("{} cycles outside\n", result.time.external.count()) + sample::text(result);
}

/// Cycles that tiles wait for memory, followed by the whole result.
std::string moved_by(const MachineConfig& config, double waits, double adds,
                     sc_core::sc_time_unit unit = SC_FS, const RunOptions& options = {}) {
  return in_child([&] {
    sc_core::sc_set_time_resolution(1, unit);
    const Moving moving(config);
    PlatformScene platform(moving, waits, adds, "machine", options);
    run_all(moving, {&platform.module});
    moving.require_moved(platform.module);
    check(
        platform.module.result().external_read.count() == std::uint64_t{kMovedBytes} * config.tiles,
        "bytes");
    return shown(platform.module.result());
  });
}

std::string cycles_outside(const MachineConfig& config, double waits, double adds) {
  const std::string text = moved_by(config, waits, adds);
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_SUITE("timing") {
  TEST_CASE("a platform's memory takes the cycles that its answers take") {
    // Read: the first request issues after 5 cycles, reaches the memory after 10, is answered after
    // 20, returns after 10; four requests use the port 4 cycles each: 5 + 10 + 20 + 10 + 16 = 61.
    // Write: 5, the port 16, 10 + 20 + 10. A tile's wait begins in the cycle after its start.
    CHECK(cycles_outside(platform_machine(1), 20, 0) == "120 cycles outside");
    CHECK(cycles_outside(platform_machine(1), 19.001, 0) == "120 cycles outside");  // rounded up
    CHECK(cycles_outside(platform_machine(1), 0, 0) == "80 cycles outside");
    MachineConfig one = platform_machine(1);
    one.external.outstanding = 1;
    // Each of four requests alone: 10 + 20 + 10, and 4 cycles of the port; the next one issues in
    // the cycle in which it ends.
    CHECK(cycles_outside(one, 20, 0) == "360 cycles outside");
  }

  TEST_CASE("a memory that waits and one that adds delay give the same cycles and bytes") {
    for (const ExternalReach reach : {ExternalReach::chip, ExternalReach::tile}) {
      MachineConfig config = platform_machine(reach == ExternalReach::chip ? 20 : 1);
      config.external.reach = reach;
      config.external.outstanding = 3;
      config.clock_ghz = 1.85;
      const std::string expected = moved_by(config, 33.3, 0);
      CHECK(test::holds(expected, "cycles outside"));
      CHECK(moved_by(config, 0, 33.3) == expected);
      CHECK(moved_by(config, 13.3, 20) == expected);
      RunOptions shuffled{.threads = 2, .shuffle = 7};
      CHECK(moved_by(config, 33.3, 0, SC_FS, shuffled) == expected);
      // If several cycles share an instant, waiting and adding are still equivalent.
      CHECK(moved_by(config, 33, 0, SC_NS) == moved_by(config, 0, 33, SC_NS));
    }
  }
}

TEST_SUITE("run") {
  TEST_CASE("requests of several tiles are under way at a time, in the order of tiles") {
    CHECK(in_child([] {
            const Moving moving(platform_machine(4));
            PlatformScene platform(moving, 100, 0);
            run_all(moving, {&platform.module});
            check(platform.memory.most == 16, "{} at a time", platform.memory.most);
            std::string first;
            for (std::size_t i = 0; i < 6; ++i)
              first += fmt::format("{} ", platform.memory.addresses[i]);
            return first;
          }) == "0 8192 16384 24576 64 8256 ");
  }

  TEST_CASE("two machines with memories of their own do not see each other") {
    const std::string alone = moved_by(platform_machine(3), 20, 0);
    CHECK(in_child([&] {
            const Moving moving(platform_machine(3));
            PlatformScene one(moving, 20, 0, "one");
            PlatformScene other(moving, 50, 0, "other");
            run_all(moving, {&one.module, &other.module});
            moving.require_moved(one.module);
            moving.require_moved(other.module);
            check(one.module.cycles() < other.module.cycles(), "equally fast");
            return shown(one.module.result());
          }) == alone);
  }

  TEST_CASE("a response that is an error ends the run naming tile, address and response") {
    CHECK(failure_of(platform_machine(2),
                     [](MemoryTarget& memory) { memory.refuses_from = 8192 + 64; }) ==
          "exit 2: tile 1: the platform's memory answers the read of 64 bytes at 0x2040 outside by "
          "TLM_ADDRESS_ERROR_RESPONSE");
  }

  TEST_CASE("a memory is bound where the model is platform, and there alone") {
    CHECK(in_child([] {
            const Moving moving(platform_machine(1));
            Simulation(moving.config, moving.program, moving.images, {});
            return std::string();
          }) ==
          "exit 2: machine.external.model: found platform, allowed dram: only a SystemC platform "
          "around the machine (tessera/machine.h) can bind a memory to it");
    CHECK(refusal_to_load(0) ==
          "exit 2: machine.external.model: found platform, allowed dram: no memory is bound to the "
          "initiator socket of machine machine");
    MachineConfig dram = platform_machine(1);
    dram.external.model = ExternalModel::dram;
    CHECK(failure_of(dram).starts_with(
        "exit 2: machine.external.model: found dram, needed platform"));
    CHECK(refusal_to_load(100) ==
          "exit 2: the platform's memory takes 0 of 256 bytes at 0x0 by debug access");
  }
}

TEST_SUITE("timing") {
  TEST_CASE("a four-phase memory behind the adapter takes its own time, in all its forms") {
    using Style = sample::FourPhaseTarget::Style;
    const auto cycles_with = [](Style style) {
      return in_child([style] {
        const Moving moving(platform_machine(1));
        FourPhaseScene scene(moving, style);
        run_all(moving, {&scene.module});
        moving.require_moved(scene.module);
        check(scene.memory.under_way == 0, "{} are under way", scene.memory.under_way);
        return fmt::format("{} cycles outside, {} at a time",
                           scene.module.result().time.external.count(), scene.memory.most);
      });
    };
    // Requests arrive one a cycle, are accepted every 2 and answered 20 later. Read: 5 + 10 + 22 +
    // 10, and the port for 16. Write: 5, the port, 10 + 22 + 10. A wait begins a cycle later.
    CHECK(cycles_with(Style::four) == "124 cycles outside, 4 at a time");
    CHECK(cycles_with(Style::updated) == "124 cycles outside, 4 at a time");
    // One at a time. Read: 5 + 10 + 4 x 22 + 10 + 4. Write: 5 + 4 + 10 + 4 x 22 + 10.
    CHECK(cycles_with(Style::skips) == "232 cycles outside, 1 at a time");
    CHECK(cycles_with(Style::early) == "232 cycles outside, 0 at a time");
    CHECK(cycles_with(Style::in_result) == "232 cycles outside, 0 at a time");
  }

  TEST_CASE("an error of a four-phase memory reaches the machine") {
    CHECK(in_child([] {
            const Moving moving(platform_machine(3));
            FourPhaseScene scene(moving, sample::FourPhaseTarget::Style::four);
            scene.memory.refuses_from = 8192;
            run_all(moving, {&scene.module});
            return std::string();
          }) ==
          "exit 2: tile 1: the platform's memory answers the read of 64 bytes at 0x2000 outside by "
          "TLM_ADDRESS_ERROR_RESPONSE");
  }
}
