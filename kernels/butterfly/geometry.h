#pragma once

#include "kernels/butterfly/plan.h"
#include "kernels/butterfly/schedule.h"

namespace tessera::butterfly {

/// Which part of X each tile holds: tile t has part t / split_features of the columns, and of the
/// features what a schedule says of t % split_features.
struct Geometry {
  Problem problem;
  Plan plan;

  [[nodiscard]] std::uint32_t tiles() const { return plan.split_features * plan.split_n; }
  [[nodiscard]] std::uint32_t rows() const { return problem.blocks() / plan.split_features; }
  [[nodiscard]] std::uint32_t feature_part(std::uint32_t tile) const {
    return tile % plan.split_features;
  }
  /// Units of columns of a tile; tile 0 has most.
  [[nodiscard]] Interval units(std::uint32_t tile) const {
    return EvenSplit{problem.units(), plan.split_n}.part(tile / plan.split_features);
  }
  /// Bytes of all rows of a tile.
  [[nodiscard]] std::uint64_t bytes(std::uint32_t tile) const {
    return units(tile).size() * problem.unit_bytes() * rows();
  }

  /// Calls take(row, inner, column, part, at) for every real number of a tile, `at` counting them;
  /// `inner` is the feature's number in its block, part 1 is imaginary. Columns beyond n and inner
  /// ones beyond the block are padding.
  template <class Take>
  void for_numbers(std::uint32_t tile, const Take& take) const {
    const std::uint32_t columns = problem.unit_columns();
    const std::uint32_t parts = problem.is_complex() ? 2 : 1;
    const Interval mine = units(tile);
    std::size_t at = 0;
    if (problem.blocked()) {
      const std::uint32_t depth = problem.shape.depth;
      for (std::uint32_t row = 0; row < rows(); ++row)
        for (std::uint32_t first = 0; first < problem.padded(); first += depth)
          for (std::uint64_t column = mine.begin; column < mine.end; ++column)
            for (std::uint32_t i = 0; i < depth; ++i) take(row, first + i, column, 0U, at++);
      return;
    }
    for (std::uint32_t row = 0; row < rows(); ++row)
      for (std::uint64_t unit = mine.begin; unit < mine.end; ++unit)
        for (std::uint32_t part = 0; part < parts; ++part)
          for (std::uint32_t i = 0; i < columns; ++i) take(row, 0U, unit * columns + i, part, at++);
  }
};

}  // namespace tessera::butterfly
