#include "models/fabric/slots.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

namespace tessera::fabric {
namespace {

constexpr std::size_t kWords = 8;
constexpr std::uint32_t kSlots = 64 * kWords;

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("runs of free slots begin where a slot-by-slot search finds them") {
    std::mt19937_64 random(1);
    for (const std::uint32_t length : {1U, 2U, 3U, 63U, 64U, 65U, 130U}) {
      BusySlots busy;
      for (int i = 0; i < 3; ++i) busy.occupy(static_cast<std::uint32_t>(random() % 400), 5);
      const std::uint32_t horizon = 450;
      Slots free(kWords);
      busy.free_slots(free, horizon);
      keep_runs(free, length);
      for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
        const bool fits = slot + length <= horizon && busy.is_free(slot, length);
        CHECK(contains(free, slot) == fits);
      }
    }
  }

  TEST_CASE("the starts that are kept are those of the slots as they are") {
    std::mt19937_64 random(3);
    for (const std::uint32_t lanes : {1U, 2U, 3U}) {
      BusySlots busy(lanes, 2);
      std::uint32_t horizon = 200;
      for (int step = 0; step < 300; ++step) {
        const auto length = static_cast<std::uint32_t>(1 + random() % 3 * 17);
        if (step % 40 == 39) horizon += 7;
        const std::size_t words = (horizon + 63) / 64;
        const std::span<const std::uint64_t> starts = busy.starts(length, horizon, words);
        Slots free(words);
        busy.free_slots(free, horizon);
        keep_runs(free, length);
        CHECK(std::ranges::equal(starts, free));
        if (const auto slot = first_slot(free); slot && step % 3 != 2) busy.occupy(*slot, length);
      }
    }
  }

  TEST_CASE("the counter finds the first slot that most sets contain") {
    std::mt19937_64 random(2);
    std::vector<Slots> sets(21, Slots(kWords));
    SlotCounter counter;
    counter.reset(kWords, 21);
    std::vector<int> count(kSlots);
    for (Slots& set : sets) {
      for (auto& word : set) word = random();
      counter.add(set);
    }
    counter.subtract(sets.back());
    sets.pop_back();
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      for (const Slots& set : sets) count[slot] += contains(set, slot) ? 1 : 0;
    }
    const auto best = std::max_element(count.begin(), count.end()) - count.begin();
    CHECK(counter.best(Slots(kWords, ~std::uint64_t{0})) == best);
    CHECK_FALSE(counter.best(Slots(kWords, 0)).has_value());
  }
}

}  // namespace tessera::fabric
