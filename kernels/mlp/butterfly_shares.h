#pragma once

#include "kernels/butterfly/gradient.h"
#include "kernels/mlp/layer.h"

namespace tessera::mlp {

/// Which numbers a tile applies and which of them it adds up the gradients of.
struct ButterflyShares {
  butterfly::Geometry geometry;
  butterfly::GradientLayout layout;
  std::uint32_t element_bytes;

  [[nodiscard]] std::uint32_t parts() const { return geometry.plan.split_n; }
  [[nodiscard]] bool rotates() const {
    return geometry.problem.parameters == butterfly::Parameters::rotation;
  }
  /// Bytes of a pair as tiles apply it.
  [[nodiscard]] std::uint32_t applied_bytes() const { return (rotates() ? 2 : 4) * element_bytes; }
  /// Sums of the bias are one f32 a row of a tile, in whole pairs of words.
  [[nodiscard]] std::uint64_t bias_bytes() const;
  /// The bytes of such sums that a tile adds up: of twiddles, or of the bias; none on other
  /// tiles.
  [[nodiscard]] kernels::Interval of_sums(bool bias, Tile tile) const;
  /// Where the share of a tile is in what tiles apply.
  [[nodiscard]] kernels::Interval applied(bool bias, Tile tile) const;
  [[nodiscard]] std::uint64_t pairs(Tile tile) const {
    return of_sums(false, tile).size() / layout.pair_bytes();
  }
  /// The parameters of the share, numbered in their layer's order.
  [[nodiscard]] std::vector<std::uint64_t> numbers(const Linear& linear, std::uint32_t stack,
                                                   bool bias, Tile tile) const;
  [[nodiscard]] std::uint64_t count(bool bias, Tile tile) const;
  /// Rows of features on their tiles, in an array for each stack: row s N + f is feature f of stack
  /// s, of `limit` rows of `row_bytes`.
  using Arrays = std::vector<BufferId>;
  [[nodiscard]] training::GivenLines given(const Arrays& arrays, const butterfly::Rows& rows,
                                           std::uint64_t limit, std::uint64_t row_bytes) const;
  /// The same as tiles want them, or if not `stacked` row f for each stack.
  [[nodiscard]] training::WantedLines wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                             bool stacked) const;
  /// Calls take(tile) for the tiles with the features of `tile`.
  template <class Take>
  void for_alike(Tile tile, const Take& take) const {
    for (std::uint32_t p = 0; p < parts(); ++p)
      take(geometry.feature_part(tile) + p * geometry.plan.split_features);
  }
};

}  // namespace tessera::mlp
