#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Sets of time slots, a bit each: which slots of a port are taken, where a transfer would fit.
namespace tessera::fabric {

/// A SlotCounter takes sets of a multiple of this many slots: what a vector register holds.
constexpr std::size_t kSlotBlock = 256;

using Slots = std::vector<std::uint64_t>;

/// The slots in which a port or a sender is busy; free beyond the last word.
class BusySlots {
 public:
  void occupy(std::uint32_t slot, std::uint32_t length);
  [[nodiscard]] bool is_free(std::uint32_t slot, std::uint32_t length) const;
  /// Writes to `out` the free ones of the first `count` slots.
  void free_slots(std::span<std::uint64_t> out, std::uint64_t count) const;

 private:
  Slots words_;
};

/// Sets the first `count` slots and clears the rest.
void fill_slots(std::span<std::uint64_t> slots, std::uint64_t count);

/// Keeps the slots at which a run of `length` set slots begins.
void keep_runs(std::span<std::uint64_t> slots, std::uint32_t length);

void intersect(std::span<std::uint64_t> slots, std::span<const std::uint64_t> with);

std::optional<std::uint32_t> first_slot(std::span<const std::uint64_t> slots);

inline bool contains(std::span<const std::uint64_t> slots, std::uint32_t slot) {
  return (slots[slot / 64] >> (slot % 64) & 1) != 0;
}

/// Counts for every slot at once how many sets contain it: bit planes, 64 slots an operation.
class SlotCounter {
 public:
  void reset(std::size_t words, std::uint32_t most);
  void add(std::span<const std::uint64_t> slots);
  void subtract(std::span<const std::uint64_t> slots);
  /// The first of `candidates` that most sets contain; nothing if no set contains any of them.
  [[nodiscard]] std::optional<std::uint32_t> best(std::span<const std::uint64_t> candidates);

 private:
  std::size_t words_ = 0;
  std::size_t planes_ = 0;
  Slots bits_;  ///< the planes of a block stand together, lowest first
  Slots best_, narrowed_;
};

}  // namespace tessera::fabric
