#pragma once

#include <functional>
#include <optional>

#include "kernels/spmm_static/partition.h"

/// Expected cost of cuts if the blocks of W lie anywhere with equal probability (PopSparse, arXiv
/// 2303.16999): the statistics of the fullest tile, priced by the planner.
namespace tessera::spmm_static {

/// Sizes, and the block counts that stand for a pattern.
struct Problem {
  sparse::Shape shape;
  std::uint32_t block_rows;
  std::uint32_t block_columns;
  std::uint32_t columns;  ///< columns of X with padding
  std::uint64_t blocks;
  std::vector<std::uint32_t> by_column;  ///< blocks of W in each block column
};
Problem make_problem(const sparse::BlockMatrix& w, const sparse::Shape& shape, std::uint32_t n);

/// Expected work of the fullest tile of an interval of `width` columns.
struct TileWork {
  const sparse::Shape& shape;
  std::uint32_t width;
  std::uint64_t results;  ///< bytes of Y on the tile
  std::uint64_t blocks;
  std::uint64_t rows;          ///< block rows
  std::uint64_t band;          ///< block columns of its band
  std::uint64_t span;          ///< block columns where its blocks may lie
  std::uint64_t columns;       ///< block columns where its blocks do lie
  std::uint64_t partial_rows;  ///< tiles that hold parts of the same row

  [[nodiscard]] std::uint64_t x_bytes() const {
    return columns * shape.block * width * shape.bytes();
  }
  [[nodiscard]] std::uint64_t value_bytes() const {
    return blocks * shape.block * shape.block * shape.bytes();
  }
  [[nodiscard]] std::uint64_t q_bytes() const {
    return rows * shape.block * width * shape.partial_bytes();
  }
  [[nodiscard]] std::uint64_t partial_bytes() const {
    return ceil_div(q_bytes() * (partial_rows - 1), partial_rows);
  }
};

/// The cost of cuts.
struct Expected {
  std::uint64_t cycles;
  std::uint64_t bytes;  ///< bytes of a tile
};

/// A planner: the price of the fullest tile's work, and the cuts it considers.
struct Planner {
  std::uint32_t most_parts;
  bool asked_meet;  ///< counts partial rows for the bands asked for, not those made
  /// `shares_values`: several intervals use the same values of W.
  std::function<Expected(const TileWork& work, bool shares_values)> price;
  /// True if work lists can name every place; absent: they can.
  std::function<bool(const Problem& problem, const Bands& bands, std::uint32_t width)> names = {};
};

/// Nullopt if there are too few tiles for the cuts.
std::optional<Expected> expect(const Problem& problem, std::uint32_t tiles, const Cuts& cuts,
                               const Planner& planner);

/// The largest cuts that a search considers, without pinned ones.
Cuts most_cuts(const Problem& problem, const Planner& planner);

/// Calls visit(cuts, expected) for all cuts up to most_cuts(). Pinned numbers (not 0) and all other
/// pinned keys are kept.
template <class Visit>
void for_all_cuts(const Problem& problem, std::uint32_t tiles, const Cuts& pinned,
                  const Planner& planner, const Visit& visit) {
  constexpr std::uint32_t kAllUpTo = 128;  // beyond, neighbouring counts differ little
  const Cuts most = most_cuts(problem, planner);
  for (std::uint32_t parts = 1; parts <= (pinned.parts != 0 ? 1 : most.parts);
       parts += parts < kAllUpTo ? 1 : parts / 16) {
    for (std::uint32_t bands = 1; bands <= (pinned.bands != 0 ? 1 : most.bands); ++bands) {
      Cuts cuts = pinned;
      if (pinned.parts == 0) cuts.parts = parts;
      if (pinned.bands == 0) cuts.bands = bands;
      if (const auto expected = expect(problem, tiles, cuts, planner)) visit(cuts, *expected);
    }
  }
}

}  // namespace tessera::spmm_static
