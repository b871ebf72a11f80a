#include "kernels/butterfly/schedule.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tessera::butterfly {

namespace {

std::uint32_t size(const std::vector<std::uint32_t>& bits) {
  return static_cast<std::uint32_t>(bits.size());
}

/// Initial placement of features: those that the first factors join are on one tile.
Rows first_rows(std::uint32_t bits, std::uint32_t tile_bits, bool ascending) {
  Rows rows;
  rows.row_bits.resize(bits - tile_bits);
  rows.tile_bits.resize(tile_bits);
  std::iota(rows.row_bits.begin(), rows.row_bits.end(), ascending ? 0 : tile_bits);
  std::iota(rows.tile_bits.begin(), rows.tile_bits.end(), ascending ? bits - tile_bits : 0);
  return rows;
}

/// The swap that brings feature bits low .. low + bits to the rows.
Swap swap_for(const Rows& rows, std::uint32_t low, std::uint32_t bits) {
  const auto found = std::find(rows.tile_bits.begin(), rows.tile_bits.end(), low);
  return {bits, static_cast<std::uint32_t>(found - rows.tile_bits.begin())};
}

}  // namespace

std::uint32_t Rows::feature(std::uint32_t tile, std::uint32_t row) const {
  std::uint32_t feature = 0;
  for (std::uint32_t i = 0; i < size(row_bits); ++i) feature |= (row >> i & 1U) << row_bits[i];
  for (std::uint32_t i = 0; i < size(tile_bits); ++i) feature |= (tile >> i & 1U) << tile_bits[i];
  return feature;
}

Rows::Holder Rows::holder(std::uint32_t feature) const {
  Holder holder{0, 0};
  for (std::uint32_t i = 0; i < size(row_bits); ++i)
    holder.row |= (feature >> row_bits[i] & 1U) << i;
  for (std::uint32_t i = 0; i < size(tile_bits); ++i)
    holder.tile |= (feature >> tile_bits[i] & 1U) << i;
  return holder;
}

std::optional<std::uint32_t> Rows::place(std::uint32_t bit) const {
  const auto found = std::find(row_bits.begin(), row_bits.end(), bit);
  if (found == row_bits.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - row_bits.begin());
}

std::uint32_t RowPass::first_place(const Problem& problem) const {
  return *rows.place(problem.bit(stages.front()));
}

std::uint32_t RowPass::last_place(const Problem& problem) const {
  return *rows.place(problem.bit(stages.back()));
}

std::uint32_t RowPass::first_row(const Problem& problem, std::uint32_t group) const {
  const std::uint32_t low = std::min(first_place(problem), last_place(problem));
  return (group >> low << (low + stages.size())) | (group & ((1U << low) - 1));
}

std::vector<RowPass> schedule(const Problem& problem, std::uint32_t tiles, std::uint32_t fused,
                              bool backward) {
  const std::uint32_t bits = problem.stages();
  const bool ascending = (problem.order == Order::increasing) != backward;
  Rows rows = first_rows(bits, static_cast<std::uint32_t>(std::countr_zero(tiles)), ascending);
  std::vector<RowPass> passes;
  std::optional<Swap> before;
  std::uint32_t done = 0;
  while (done < bits) {
    const auto stage = [&](std::uint32_t at) { return backward ? bits - 1 - at : at; };
    const std::uint32_t bit = problem.bit(stage(done));
    if (!rows.place(bit)) {
      const std::uint32_t wanted = std::min(bits - done, size(rows.row_bits));
      before = swap_for(rows, ascending ? bit : bit + 1 - wanted, wanted);
      std::swap_ranges(rows.row_bits.end() - before->bits, rows.row_bits.end(),
                       rows.tile_bits.begin() + before->tile_place);
    }
    RowPass pass{{stage(done)}, rows, before};
    before.reset();
    ++done;
    while (pass.stages.size() < fused && done < bits && rows.place(problem.bit(stage(done))))
      pass.stages.push_back(stage(done++));
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace tessera::butterfly
