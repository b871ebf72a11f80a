#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Sets of time slots, a bit each: which slots of a port are taken, where a transfer would fit.
namespace tessera::fabric {

/// A SlotCounter takes sets of a multiple of this many slots: what a vector register holds.
constexpr std::size_t kSlotBlock = 256;

using Slots = std::vector<std::uint64_t>;

/// The slots in which all lanes of a port are busy; free beyond the last word.
class BusySlots {
 public:
  /// `words`: as many as are often taken.
  explicit BusySlots(std::uint32_t lanes = 1, std::size_t words = 0)
      : lanes_(lanes),
        planes_(lanes == 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(lanes))),
        words_(words),
        taken_(words * planes_) {}

  /// Takes one lane.
  void occupy(std::uint32_t slot, std::uint32_t length);
  [[nodiscard]] bool is_free(std::uint32_t slot, std::uint32_t length) const;
  /// Writes to `out` the free ones of the first `count` slots.
  void free_slots(std::span<std::uint64_t> out, std::uint64_t count) const;
  /// The slots, of so many words, at which `length` free ones of the first `count` begin. Kept, so
  /// that the next stream of this length finds them. Valid until the next call.
  [[nodiscard]] std::span<const std::uint64_t> starts(std::uint32_t length, std::uint64_t count,
                                                      std::size_t words);

 private:
  /// Those of starts() at which no run begins any more.
  void drop_starts(std::uint32_t slot, std::uint32_t length);
  /// Takes a lane of each slot of word `word` that is set in `slots`; returns those whose last lane
  /// it was.
  std::uint64_t take_lane(std::size_t word, std::uint64_t slots);

  std::uint32_t lanes_;
  std::uint32_t planes_;
  Slots words_;
  Slots taken_;   ///< lanes, of more than one: bit planes, those of a word together, lowest first
  Slots starts_;  ///< where runs of `start_length_` begin, in the first `start_count_` slots
  std::uint32_t start_length_ = 0;  ///< 0: not known
  std::uint64_t start_count_ = 0;
};

/// Sets the first `count` slots and clears the rest.
void fill_slots(std::span<std::uint64_t> slots, std::uint64_t count);

/// Keeps the slots at which a run of `length` set slots begins.
void keep_runs(std::span<std::uint64_t> slots, std::uint32_t length);

/// Writes to `to` the slots of `from`, each `distance` nearer to zero; `from` reaches as far.
void move_earlier(std::span<const std::uint64_t> from, std::uint64_t distance,
                  std::span<std::uint64_t> to);

std::optional<std::uint32_t> first_slot(std::span<const std::uint64_t> slots);

/// The first slot of all these sets, which are of a multiple of kSlotBlock slots.
std::optional<std::uint32_t> first_common_slot(
    std::span<const std::uint64_t> slots, std::span<const std::span<const std::uint64_t>> others);

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
