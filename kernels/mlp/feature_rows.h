#pragma once

#include "kernels/butterfly/gradient.h"
#include "kernels/mlp/layer.h"

namespace tessera::mlp {

using butterfly::RowPass;

/// Numbers that several tiles apply and each of them keeps a share of: pieces of `from` bytes of
/// gradients, which are sums in f32, and of `to` bytes as tiles apply them.
struct Share {
  std::uint32_t from, to;
  /// The bytes of sums that a tile adds up; none on other tiles.
  std::function<kernels::Interval(Tile)> sums;
  /// Where the share of a tile is in what tiles apply.
  [[nodiscard]] kernels::Interval applied(Tile tile) const {
    const kernels::Interval mine = sums(tile);
    return {mine.begin / from * to, mine.end / from * to};
  }
};

/// How features lie by rows on the tiles of a butterfly's plan. Tiles with the same features apply
/// the same numbers, and each adds up the gradients of a share of them.
struct FeatureRows {
  butterfly::Geometry geometry;
  butterfly::GradientLayout layout;
  std::uint32_t element_bytes;  ///< of matrices

  [[nodiscard]] std::uint32_t parts() const { return geometry.plan.split_n; }
  /// Rows before the first factor and behind the last one.
  [[nodiscard]] const butterfly::Rows& first() const { return layout.passes().front().rows; }
  [[nodiscard]] const butterfly::Rows& last() const { return layout.passes().back().rows; }
  [[nodiscard]] bool rotates() const {
    return geometry.problem.parameters == butterfly::Parameters::rotation;
  }
  /// Samples of a unit of columns: a complex number is two of them.
  [[nodiscard]] std::uint32_t unit_samples() const {
    return geometry.problem.unit_columns() * (geometry.problem.is_complex() ? 2 : 1);
  }
  /// Bytes of a unit of matrices' numbers.
  [[nodiscard]] std::uint32_t unit_bytes() const { return unit_samples() * element_bytes; }
  /// Bytes of a pair as tiles apply it.
  [[nodiscard]] std::uint32_t applied_bytes() const { return (rotates() ? 2 : 4) * element_bytes; }
  [[nodiscard]] std::uint64_t pairs(Tile tile) const {
    return twiddles().sums(tile).size() / layout.pair_bytes();
  }
  [[nodiscard]] Share twiddles() const;
  /// Of one piece a row: a tile has `row_bytes(from)` of them.
  [[nodiscard]] Share by_rows(std::uint32_t from, std::uint32_t to) const;
  /// Bytes of all rows' pieces of so many bytes, in whole pairs of words.
  [[nodiscard]] std::uint64_t row_bytes(std::uint32_t each) const;

  /// Parameters of twiddles of the share of a tile, numbered in their layer's order.
  [[nodiscard]] std::vector<std::uint64_t> twiddle_numbers(std::uint32_t stack, Tile tile) const;

  /// Rows of features on their tiles, in an array for each stack: row s N + f is feature f of stack
  /// s, of `limit` rows of `row_bytes`.
  using Arrays = std::vector<BufferId>;
  [[nodiscard]] training::GivenLines given(const Arrays& arrays, const butterfly::Rows& rows,
                                           std::uint64_t limit, std::uint64_t row_bytes) const;
  /// The same as tiles want them, or if not `stacked` row f for each stack.
  [[nodiscard]] training::WantedLines wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                             bool stacked) const;
};

}  // namespace tessera::mlp
