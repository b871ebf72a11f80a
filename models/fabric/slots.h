#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Sets of time slots as bit sets: busy slots of a port, slots where a transfer would fit.
namespace tessera::fabric {

/// SlotCounter's sets are multiples of this many slots, the size of a vector register.
constexpr std::size_t kSlotBlock = 256;

using Slots = std::vector<std::uint64_t>;

/// The slots in which all lanes of a port are busy; slots beyond the last word are free.
class BusySlots {
 public:
  /// `words`: initial size in words.
  explicit BusySlots(std::uint32_t lanes = 1, std::size_t words = 0)
      : lanes_(lanes),
        planes_(lanes == 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(lanes))),
        words_(words),
        taken_(words * planes_) {}

  /// Takes one lane in [slot, slot + length).
  void occupy(std::uint32_t slot, std::uint32_t length);
  [[nodiscard]] bool is_free(std::uint32_t slot, std::uint32_t length) const;
  /// Writes the free slots among the first `count` to `out`.
  void free_slots(std::span<std::uint64_t> out, std::uint64_t count) const;
  /// The slots, in `words` words, at which a run of `length` free slots within the first `count`
  /// begins. Cached for the next stream of this length. Valid until the next call.
  [[nodiscard]] std::span<const std::uint64_t> starts(std::uint32_t length, std::uint64_t count,
                                                      std::size_t words);

 private:
  /// Removes from the cache the starts that a taken run invalidates.
  void drop_starts(std::uint32_t slot, std::uint32_t length);
  /// Takes a lane of each slot of word `word` that is set in `slots`; returns the slots now full.
  std::uint64_t take_lane(std::size_t word, std::uint64_t slots);

  std::uint32_t lanes_;
  std::uint32_t planes_;
  Slots words_;
  Slots taken_;   ///< taken lanes if several: bit planes, grouped by word, lowest first
  Slots starts_;  ///< starts of runs of `start_length_` in the first `start_count_` slots
  std::uint32_t start_length_ = 0;  ///< 0: not known
  std::uint64_t start_count_ = 0;
};

/// Sets the first `count` slots and clears the rest.
void fill_slots(std::span<std::uint64_t> slots, std::uint64_t count);

/// Keeps the slots at which a run of `length` set slots begins.
void keep_runs(std::span<std::uint64_t> slots, std::uint32_t length);

/// Writes the slots of `from`, each moved `distance` towards zero, to `to`; `from` must be long
/// enough.
void move_earlier(std::span<const std::uint64_t> from, std::uint64_t distance,
                  std::span<std::uint64_t> to);

std::optional<std::uint32_t> first_slot(std::span<const std::uint64_t> slots);

/// The first slot common to all sets, whose sizes are multiples of kSlotBlock slots.
std::optional<std::uint32_t> first_common_slot(
    std::span<const std::uint64_t> slots, std::span<const std::span<const std::uint64_t>> others);

inline bool contains(std::span<const std::uint64_t> slots, std::uint32_t slot) {
  return (slots[slot / 64] >> (slot % 64) & 1) != 0;
}

/// Counts for all slots in parallel how many sets contain each: bit planes, 64 slots per operation.
class SlotCounter {
 public:
  void reset(std::size_t words, std::uint32_t most);
  void add(std::span<const std::uint64_t> slots);
  void subtract(std::span<const std::uint64_t> slots);
  /// The first of the `candidates` contained in the most sets; nothing if no set contains any.
  [[nodiscard]] std::optional<std::uint32_t> best(std::span<const std::uint64_t> candidates);

 private:
  std::size_t words_ = 0;
  std::size_t planes_ = 0;
  Slots bits_;  ///< planes grouped by block, lowest first
  Slots best_, narrowed_;
};

}  // namespace tessera::fabric
