#pragma once

#include <cstring>
#include <random>

#include "sim/program/transfer_list.h"
#include "tests/models/memory/random_external.h"
#include "tests/models/memory/tile_script.h"

namespace tessera::sample {

/// A random machine with lists and scripts. Lists are in the upper half of each SRAM, data below.
class RandomScene {
 public:
  static constexpr std::uint32_t kSram = 8192;

  explicit RandomScene(std::uint64_t seed) : random_(seed) {}

  Scene make() {
    Scene scene;
    scene.machine.clock_ghz = pick({0.35, 1.0, 1.35, 1.85, 3.0});
    scene.machine.has_external = true;
    scene.machine.external = random_external(
        [this](std::initializer_list<std::uint32_t> values) { return pick(values); });
    const std::uint64_t tiles = one_of(1, 6);
    for (std::uint64_t i = 0; i < tiles; ++i) add_tile(scene);
    return scene;
  }

 private:
  std::uint64_t one_of(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }
  std::uint32_t clocks(std::uint32_t high) { return static_cast<std::uint32_t>(one_of(0, high)); }
  template <class Value>
  Value pick(std::initializer_list<Value> values) {
    return values.begin()[one_of(0, values.size() - 1)];
  }

  void add_tile(Scene& scene) {
    std::vector<std::byte> sram(kSram);
    for (std::byte& byte : sram) byte = static_cast<std::byte>(random_());
    std::vector<std::uint32_t> lists;
    std::uint32_t at = kSram / 2;
    for (std::uint64_t i = one_of(1, 3); i > 0; --i) {
      lists.push_back(at);
      at += add_list(scene.machine.external, sram, at);
    }
    Script script;
    for (std::uint64_t i = one_of(1, 6); i > 0; --i)
      script.push_back({lists[one_of(0, lists.size() - 1)],
                        pick<std::uint64_t>({0, 0, 1, 30, one_of(0, 3000)}), one_of(0, 3) == 0});
    scene.sram.push_back(std::move(sram));
    scene.scripts.push_back(std::move(script));
  }

  std::uint32_t add_list(const ExternalConfig& external, std::vector<std::byte>& sram,
                         std::uint32_t at) {
    program::TransferHeader header{};
    header.exchange = static_cast<std::uint32_t>(one_of(0, 99));
    header.entries = static_cast<std::uint32_t>(one_of(0, 3));
    header.turns.count = static_cast<std::uint32_t>(one_of(1, 6));
    header.turns.first = clocks(2);
    header.turns.every = clocks(2);
    header.turns.skipped = pick<std::uint32_t>({0, 0, 1});
    header.turns.period = pick<std::uint32_t>({0, 0, 1, 2, 3});
    header.turns.radices[0] = static_cast<std::uint32_t>(one_of(1, 3));
    header.turns.radices[1] = static_cast<std::uint32_t>(one_of(1, 3));
    std::memcpy(sram.data() + at, &header, sizeof header);
    for (std::uint32_t i = 0; i < header.entries; ++i) {
      program::OuterEntry entry{};
      // Near a border between channels, so that every channel gets traffic.
      const std::uint64_t border = one_of(1, external.channels) * external.channel_bytes();
      entry.address = border - one_of(1, 4) * 6000 - one_of(0, 500);
      entry.rows = clocks(4);
      entry.row_bytes = pick<std::uint32_t>({8, 64, static_cast<std::uint32_t>(one_of(0, 400))});
      entry.pitch = one_of(0, 500);
      for (std::uint64_t& step : entry.steps) step = one_of(0, 200);
      entry.local = static_cast<std::uint32_t>(one_of(0, kSram / 2 - 1600));
      entry.outward = clocks(1);
      std::memcpy(sram.data() + at + sizeof header + i * sizeof entry, &entry, sizeof entry);
    }
    return static_cast<std::uint32_t>(program::outer_list_bytes(header.entries));
  }

  std::mt19937_64 random_;
};

}  // namespace tessera::sample
