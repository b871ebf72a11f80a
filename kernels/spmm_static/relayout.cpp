#include "kernels/spmm_static/relayout.h"

#include <algorithm>

namespace tessera::spmm_static {

namespace {

// Slots of codelets_relayout.S; a test measures them.
constexpr std::uint64_t kWorkerSlots = 8;
constexpr std::uint64_t kIdleSlots = 7;
constexpr std::uint64_t kRunSlots = 12;
constexpr std::uint64_t kSquareSlots4 = 17;
constexpr std::uint64_t kSquareSlots2 = 9;

// Strides are 16 bits of bytes; whole squares of rows of f32.
constexpr std::uint64_t kWidest = std::uint64_t{0xffff} / 16 * 4;

/// Squares [first, last) of rows group * lanes ... of a panel.
SquareRun run_of(const Panel& panel, std::uint64_t depth, std::uint32_t bytes, Direction direction,
                 std::uint64_t group, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t lanes = 8 / bytes;
  const std::uint64_t base = panel.offset * bytes;
  const auto half = [](std::uint64_t value) { return static_cast<std::uint16_t>(value); };
  const auto rows_at =
      static_cast<std::uint32_t>(base + group * lanes * panel.width() * bytes + first * 8);
  const auto blocks_at =
      static_cast<std::uint32_t>(base + first * lanes * depth * bytes + group * 8);
  const std::uint16_t row = half(panel.width() * bytes);
  const std::uint16_t position = half(depth * bytes);
  const std::uint16_t next = half(lanes * depth * bytes);
  if (direction == Direction::to_blocks) {
    return {rows_at, blocks_at, half(last - first), row, 8, position, next, 0};
  }
  return {blocks_at, rows_at, half(last - first), position, next, row, 8, 0};
}

}  // namespace

std::vector<Panel> panels_of(std::uint64_t first, std::uint64_t last, std::uint64_t depth,
                             std::uint64_t columns) {
  std::vector<Panel> panels;
  for (std::uint64_t at = first; at < last;) {
    const std::uint64_t begin = at / depth % columns;
    const std::uint64_t width = std::min({columns - begin, (last - at) / depth, kWidest});
    panels.push_back({at / depth / columns * depth, begin, begin + width, at - first});
    at += width * depth;
  }
  return panels;
}

std::vector<std::vector<SquareRun>> transpositions(const std::vector<Panel>& panels,
                                                   std::uint64_t depth, std::uint32_t bytes,
                                                   Direction direction, std::uint32_t workers) {
  const std::uint64_t lanes = 8 / bytes;
  std::uint64_t squares = 0;
  for (const Panel& panel : panels) squares += panel.width() / lanes * (depth / lanes);
  const std::uint64_t each = std::max(ceil_div<std::uint64_t>(squares, workers), std::uint64_t{1});
  std::vector<std::vector<SquareRun>> runs(workers);
  std::uint64_t at = 0;
  for (const Panel& panel : panels) {
    const std::uint64_t across = panel.width() / lanes;
    for (std::uint64_t group = 0; group < depth / lanes; ++group) {
      for (std::uint64_t first = 0; first < across;) {
        const std::uint64_t last = std::min(across, first + each - at % each);
        runs[at / each].push_back(run_of(panel, depth, bytes, direction, group, first, last));
        at += last - first;
        first = last;
      }
    }
  }
  return runs;
}

std::uint64_t transposing_slots(const std::vector<SquareRun>& runs, std::uint32_t bytes) {
  if (runs.empty()) return kIdleSlots;
  std::uint64_t slots = kWorkerSlots;
  for (const SquareRun& run : runs) {
    slots += kRunSlots + run.squares * (bytes == 2 ? kSquareSlots4 : kSquareSlots2);
  }
  return slots;
}

}  // namespace tessera::spmm_static
