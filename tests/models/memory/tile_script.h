#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/splitmix.h"
#include "sim/machine/machine_config.h"

namespace tessera::sample {

/// One start of a list by a tile: `gap` cycles after its previous start, but not before that list's
/// last transfer is done (`after_all`: those of all its lists).
struct Step {
  std::uint32_t list;
  std::uint64_t gap;
  bool after_all;
};
using Script = std::vector<Step>;

/// One tile's progress in its script.
class Follower {
 public:
  /// The cycle at which the next list starts; nullopt while it is unknown, and at the end.
  [[nodiscard]] std::optional<std::uint64_t> next_start(const Script& script) const {
    if (at_ == script.size()) return std::nullopt;
    const Step& step = script[at_];
    std::uint64_t start = last_ + step.gap;
    for (const auto& [list, done] : lists_) {
      if (list != step.list && !step.after_all) continue;
      if (!done) return std::nullopt;
      start = std::max(start, *done);
    }
    return start;
  }
  std::uint32_t take(const Script& script, std::uint64_t cycle) {
    last_ = cycle;
    std::erase_if(lists_, [&](const auto& each) { return each.first == script[at_].list; });
    lists_.push_back({script[at_].list, std::nullopt});
    return script[at_++].list;
  }
  void done(std::uint32_t list, std::uint64_t cycle) {
    for (auto& each : lists_)
      if (each.first == list) each.second = cycle;
  }
  [[nodiscard]] bool over(const Script& script) const {
    return at_ == script.size() &&
           std::ranges::all_of(lists_, [](const auto& each) { return each.second.has_value(); });
  }

 private:
  std::size_t at_ = 0;
  std::uint64_t last_ = 0;
  std::vector<std::pair<std::uint32_t, std::optional<std::uint64_t>>> lists_;
};

/// A machine with external memory, the tiles' SRAM with their lists, and the tiles' scripts.
struct Scene {
  MachineConfig machine;
  std::vector<std::vector<std::byte>> sram;
  std::vector<Script> scripts;  ///< by tile

  /// The initial contents of an address space.
  [[nodiscard]] std::vector<std::byte> contents(std::uint64_t space) const {
    std::vector<std::byte> bytes(machine.external.bytes());
    constexpr std::size_t kStep = 7;  // sparse, and cheap to make
    for (std::size_t i = 0; i < bytes.size(); i += kStep)
      bytes[i] = static_cast<std::byte>(splitmix64(space, i));
    return bytes;
  }
};

/// What one transfer did: its cycles and bytes.
struct Outcome {
  std::uint32_t tile, list, exchange;
  std::uint64_t start, begin, done, read, written;

  auto operator<=>(const Outcome&) const = default;
};

}  // namespace tessera::sample
