#include "models/chip/tile_step_recorder.h"

#include <algorithm>

namespace tessera {
namespace {

/// Saturates cycles at 32 bits.
std::uint32_t held(std::uint64_t cycles) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(cycles, UINT32_MAX));
}

void add_row(std::uint32_t* to, const std::uint32_t* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = held(std::uint64_t{to[i]} + from[i]);
}

}  // namespace

TileStepRecorder::TileStepRecorder(std::uint32_t tiles, std::uint64_t most_cells)
    : row_(std::size_t{tiles} * TileSteps::kParts),
      most_rows_(std::max<std::uint64_t>(most_cells / tiles, 2)),
      open_(row_) {
  kept_.tiles = tiles;
}

void TileStepRecorder::add(TileId tile, Cycle compute, Cycle exchange, Cycle wait) {
  std::uint32_t* const parts = open_.data() + std::size_t{index(tile)} * TileSteps::kParts;
  parts[0] = held(compute.count());
  parts[1] = held(exchange.count());
  parts[2] = held(wait.count());
}

void TileStepRecorder::close(bool measured) {
  if (measured) {
    const bool begins_row = supersteps_ % kept_.supersteps_a_row == 0;
    if (begins_row && kept_.cycles.size() / row_ == most_rows_) merge();
    if (supersteps_ % kept_.supersteps_a_row == 0) {
      kept_.cycles.insert(kept_.cycles.end(), open_.begin(), open_.end());
    } else {
      add_row(&kept_.cycles[kept_.cycles.size() - row_], open_.data(), row_);
    }
    ++supersteps_;
  }
  std::ranges::fill(open_, 0);
}

void TileStepRecorder::merge() {
  const std::size_t rows = kept_.cycles.size() / row_;
  std::uint32_t* const cycles = kept_.cycles.data();
  for (std::size_t row = 0; row < rows; ++row) {
    std::uint32_t* const to = cycles + row / 2 * row_;
    if (row % 2 == 0) {
      std::copy_n(cycles + row * row_, row_, to);
    } else {
      add_row(to, cycles + row * row_, row_);
    }
  }
  kept_.cycles.resize((rows + 1) / 2 * row_);
  kept_.supersteps_a_row *= 2;
}

}  // namespace tessera
