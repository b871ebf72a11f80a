#include "sim/program/placement.h"

#include <algorithm>
#include <numeric>

namespace tessera::program {
namespace {

/// The used blocks, largest first; equals by lifetime, then in the given order.
std::vector<std::uint32_t> placing_order(std::span<const Block> blocks) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].life.used()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (blocks[a].bytes != blocks[b].bytes) return blocks[a].bytes > blocks[b].bytes;
    return blocks[a].life.first < blocks[b].life.first;
  });
  return order;
}

/// Finds the lowest free addresses, block by block.
class Allocator {
 public:
  Allocator(std::span<const Block> blocks, std::uint64_t base) : blocks_(blocks), base_(base) {}

  std::uint64_t add(std::uint32_t id) {
    const Block& block = blocks_[id];
    std::uint64_t address = round_up<std::uint64_t>(base_, block.align);
    for (const Placed& other : placed_) {
      if (other.begin >= address + block.bytes) break;  // fits below this one and all later ones
      if (other.end <= address || !other.life.overlaps(block.life)) continue;
      address = round_up<std::uint64_t>(other.end, block.align);
    }
    const Placed placed{address, address + block.bytes, block.life};
    const auto after =
        std::upper_bound(placed_.begin(), placed_.end(), placed,
                         [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    placed_.insert(after, placed);
    return address;
  }

 private:
  struct Placed {
    std::uint64_t begin;
    std::uint64_t end;
    Lifetime life;
  };

  std::span<const Block> blocks_;
  std::uint64_t base_;
  std::vector<Placed> placed_;  // by begin
};

/// Index of a time (-1 or later) in a vector.
std::size_t slot(std::int32_t time) {
  const std::int32_t from_zero = time + 1;
  return static_cast<std::size_t>(from_zero);
}

/// Bytes live at each time from -1 to `steps`, by slot().
std::vector<std::uint64_t> live_bytes(std::span<const Block> blocks, std::uint32_t steps) {
  std::vector<std::uint64_t> change(std::size_t{steps} + 3, 0);  // wraps below zero and back
  for (const Block& block : blocks) {
    if (!block.life.used()) continue;
    change[slot(block.life.first)] += block.bytes;
    change[slot(block.life.last) + 1] -= block.bytes;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

CategoryBytes categories_at(std::span<const Block> blocks, std::int32_t time) {
  CategoryBytes bytes{};
  for (const Block& block : blocks) {
    if (block.life.overlaps({time, time})) {
      bytes[static_cast<std::size_t>(block.category)] += block.bytes;
    }
  }
  return bytes;
}

}  // namespace

Layout place(std::span<const Block> blocks, std::uint64_t base, std::uint32_t steps) {
  Layout layout;
  layout.address.assign(blocks.size(), base);
  layout.end = base;
  Allocator allocator(blocks, base);
  for (std::uint32_t id : placing_order(blocks)) {
    layout.address[id] = allocator.add(id);
    layout.end = std::max(layout.end, layout.address[id] + blocks[id].bytes);
  }
  const std::vector<std::uint64_t> live = live_bytes(blocks, steps);
  const auto fullest = std::max_element(live.begin(), live.end());
  layout.peak = categories_at(blocks, static_cast<std::int32_t>(fullest - live.begin()) - 1);
  // Losses to alignment and packing count as tensors, so that the categories sum to the need.
  layout.peak[static_cast<std::size_t>(Category::tensors)] += layout.end - base - *fullest;
  layout.live.assign(live.begin() + 1, live.end() - 1);
  return layout;
}

}  // namespace tessera::program
