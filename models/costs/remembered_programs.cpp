#include "models/costs/remembered_programs.h"

#include <algorithm>

#include "models/fabric/scheduled_compiler.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/machine/nodes.h"
#include "sim/program/outline.h"

namespace tessera {
namespace {

std::string kind_of(const MachineConfig& machine) {
  MachineConfig kind = program::compiled_for(machine);
  kind.tile.sram_kib = TileConfig{}.sram_kib;
  return config::resolved(kind).dump();
}

/// All settings that samples may depend on (TileSampler).
std::string tile_kind_of(MachineConfig machine) {
  machine.tiles = 1;
  machine.nodes.clear();
  machine.tile.sram_kib = TileConfig{}.sram_kib;
  return config::resolved(machine).dump();
}

/// An upper bound on list sizes.
class LongestLists final : public program::ExchangeSizer {
 public:
  explicit LongestLists(const FabricConfig& fabric) : fabric_(fabric) {}

  [[nodiscard]] program::ExchangeUsage resource_usage(
      std::uint32_t /*exchange*/, std::span<const program::PlacedCopy> copies) const override {
    return {fabric::longest_lists(fabric_, copies), Cycle(0), Cycle(0)};
  }

 private:
  const FabricConfig& fabric_;
};

/// Upper bound on the fullest tile's bytes; none if it exceeds the machine's SRAM.
std::optional<std::uint64_t> most_bytes(const program::Program& program,
                                        const MachineConfig& machine) {
  try {
    return program::resource_usage(program, machine, LongestLists(machine.fabric)).memory.max_bytes;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<program::ResourceUsage> RememberedPrograms::resource_usage(
    const program::Program& program, const MachineConfig& machine, const program::Watch& watch) {
  return resource_usage(program, {program::fingerprint(program), kind_of(machine)}, machine, watch);
}

void RememberedPrograms::require_fit(const program::Program& program,
                                     const program::Fingerprint& identity,
                                     const MachineConfig& machine) {
  const Key key{identity, kind_of(machine)};
  const std::uint64_t capacity = sram_bytes(machine.tile);
  const auto is_known = [&] {
    const std::lock_guard lock(mutex_);
    const auto exact = known_.find(key);
    if (exact != known_.end()) return exact->second.memory.max_bytes <= capacity;
    const auto fits = fits_.find(key);
    return fits != fits_.end() && fits->second <= capacity;
  };
  if (is_known()) return;
  const std::optional<std::uint64_t> bytes = most_bytes(program, machine);
  if (!bytes) return static_cast<void>(resource_usage(program, key, machine, {}));
  const std::lock_guard lock(mutex_);
  fits_.emplace(key, *bytes);
}

std::shared_ptr<RememberedSamples> RememberedPrograms::samples(const MachineConfig& machine) {
  const std::string kind = tile_kind_of(machine);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<RememberedSamples>& its = samples_[kind];
  if (!its) its = std::make_shared<RememberedSamples>();
  return its;
}

void RememberedPrograms::keep_small() {
  constexpr std::size_t kMostExchanges = 4'096;  // a few kilobytes each, on a thousand tiles
  constexpr std::size_t kMostCosts = 65'536;     // samples, and programs that fit
  constexpr std::size_t kMostTileKinds = 64;
  const std::lock_guard lock(mutex_);
  if (known_.size() > kMostExchanges) known_.clear();
  if (fits_.size() > kMostCosts) fits_.clear();
  if (samples_.size() > kMostTileKinds) samples_.clear();
  for (const auto& [kind, samples] : samples_) samples->keep_at_most(kMostCosts);
}

std::optional<program::ResourceUsage> RememberedPrograms::resource_usage(
    const program::Program& program, const Key& key, const MachineConfig& machine,
    const program::Watch& watch) {
  const std::uint64_t capacity = sram_bytes(machine.tile);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    // A program that does not fit is compiled for its message.
    if (found != known_.end() && found->second.memory.max_bytes <= capacity) return found->second;
  }
  std::optional<program::Images> images =
      program::outline(program, program::compiled_for(machine), *compiler(machine), watch);
  if (!images) return std::nullopt;
  program::ResourceUsage made = program::usage_of(*images);
  if (made.shortest_lists) return made;  // not kept: other machines have more memory
  const std::lock_guard lock(mutex_);
  keep(key, *std::move(images));
  return known_.emplace(key, std::move(made)).first->second;
}

program::Images RememberedPrograms::outline(const program::Program& program,
                                            const MachineConfig& machine) {
  {
    const std::lock_guard lock(mutex_);
    if (!outlines_.empty()) {
      const Key key{program::fingerprint(program), kind_of(machine)};
      const auto found = std::ranges::find(outlines_, key, &std::pair<Key, program::Images>::first);
      if (found != outlines_.end() &&
          program::summarise_memory(found->second).max_bytes <= sram_bytes(machine.tile))
        return found->second;
    }
  }
  return program::outline(program, machine, *compiler(machine));
}

void RememberedPrograms::keep(const Key& key, program::Images images) {
  constexpr std::size_t kMostTiles = 65'536;  // a few hundred bytes each
  outlines_.emplace_back(key, std::move(images));
  std::size_t tiles = 0;
  for (const auto& [its, outline] : outlines_) tiles += outline.tiles.size();
  for (; tiles > kMostTiles; outlines_.pop_front()) tiles -= outlines_.front().second.tiles.size();
}

}  // namespace tessera
