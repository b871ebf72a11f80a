#pragma once

#include <random>

#include "models/memory/external_memory.h"
#include "sim/base/errors.h"
#include "tests/models/memory/tile_script.h"

namespace tessera::sample {

/// ExternalMemory with tiles that follow scripts. A nonzero seed shuffles the order in which sides
/// are submitted, and also advances time to cycles between the events.
class OuterBench {
 public:
  OuterBench(const Scene& scene, std::uint64_t seed)
      : memory(scene.machine, static_cast<std::uint32_t>(scene.scripts.size())),
        scene_(scene),
        sram_(scene.sram),
        tiles_(scene.scripts.size()),
        random_(seed),
        shuffles_(seed != 0) {
    const bool own = scene.machine.external.reach == ExternalReach::tile;
    for (std::uint32_t i = 0; i < (own ? tiles_.size() : 1); ++i)
      std::ranges::copy(scene.contents(i), store(i).begin());
    memory.begin();
  }

  ExternalMemory memory;
  std::vector<Outcome> outcomes;
  std::uint64_t advances = 0;

  std::span<std::byte> store(std::uint32_t space) {
    return memory.bytes(TileId{space}, 0, scene_.machine.external.bytes());
  }
  [[nodiscard]] const std::vector<std::vector<std::byte>>& sram() const { return sram_; }

  void run() {
    HostThreads threads(1);
    std::uint64_t now = 0;
    for (;;) {
      submit_known();
      const std::optional<Cycle> next = memory.next_event();
      if (!next) return;
      check(next->count() >= now, "the next event lies in the past");
      now = shuffles_ ? std::min(next->count(), now + random_() % kLongestStep) : next->count();
      ++advances;
      for (const fabric::Moved& moved : memory.advance(Cycle(now), threads)) {
        const fabric::Participant& side = moved.participants.at(0);
        const fabric::Delivery& end = moved.tiles.at(0);
        check(end.done.count() == now, "an end is told at cycle {}", now);
        tiles_[index(side.tile)].done(side.list.count(), now);
        outcomes.push_back({index(side.tile), side.list.count(), moved.exchange,
                            moved.ready.count(), moved.begin.count(), now, end.received.count(),
                            end.sent.count()});
      }
    }
  }

 private:
  static constexpr std::uint64_t kLongestStep = 60;

  void submit_known() {
    std::vector<fabric::Participant> sides;
    for (std::uint32_t i = 0; i < tiles_.size(); ++i) {
      while (const auto start = tiles_[i].next_start(scene_.scripts[i])) {
        const std::uint32_t list = tiles_[i].take(scene_.scripts[i], *start);
        sides.push_back({TileId{i}, Cycle(*start), sram_[i], Address(list)});
      }
    }
    if (shuffles_) std::ranges::shuffle(sides, random_);
    for (const fabric::Participant& side : sides) memory.submit(side);
  }

  const Scene& scene_;
  std::vector<std::vector<std::byte>> sram_;
  std::vector<Follower> tiles_;
  std::mt19937_64 random_;
  bool shuffles_;
};

}  // namespace tessera::sample
