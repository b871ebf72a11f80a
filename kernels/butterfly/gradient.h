#pragma once

#include "kernels/butterfly/geometry.h"

/// Where the gradients of twiddles lie. Those of a tile: factor after factor, pair after pair, the
/// numbers of each; of blocks in pieces, [outputs at once of the product][input feature][output].
/// Tiles with the same features hold sums over other columns, and each of them adds up one share.
namespace tessera::butterfly {

class GradientLayout {
 public:
  explicit GradientLayout(const Geometry& geometry);

  /// Bytes of all pairs of a tile, 16 or (complex) 32 for each, of blocks all elements with
  /// padding: the sums of outer products.
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint32_t pair_bytes() const { return pair_bytes_; }
  /// Where those of a factor begin.
  [[nodiscard]] std::uint64_t stage_begin(std::uint32_t stage) const;
  /// The bytes that a tile adds up.
  [[nodiscard]] Interval share(std::uint32_t tile) const;
  [[nodiscard]] const std::vector<RowPass>& passes() const { return passes_; }

  /// Calls take(stage, pair) for every pair of the share of a tile, in their order.
  template <class Take>
  void for_pairs(std::uint32_t tile, const Take& take) const {
    for_pieces(tile, [&](std::uint32_t stage, std::uint32_t pair, std::uint32_t /*piece*/) {
      take(stage, pair);
    });
  }
  /// The same for pieces of a pair's elements: all, or those of one input feature of blocks.
  template <class Take>
  void for_pieces(std::uint32_t tile, const Take& take) const {
    const Interval mine = share(tile);
    const std::uint64_t pieces = pair_bytes_ / piece_bytes_;
    for (std::uint64_t at = mine.begin / piece_bytes_; at < mine.end / piece_bytes_; ++at) {
      const auto stage = static_cast<std::uint32_t>(at / pieces / groups());
      const RowPass& pass = passes_[stage];
      const std::uint32_t row =
          pass.first_row(geometry_.problem, static_cast<std::uint32_t>(at / pieces % groups()));
      take(stage,
           geometry_.problem.pair(stage, pass.rows.feature(geometry_.feature_part(tile), row)),
           static_cast<std::uint32_t>(at % pieces));
    }
  }

 private:
  [[nodiscard]] std::uint64_t groups() const { return geometry_.rows() / 2; }

  Geometry geometry_;
  std::uint32_t pair_bytes_;
  std::uint32_t piece_bytes_;    ///< that one tile adds up at least
  std::vector<RowPass> passes_;  ///< by factor
};

}  // namespace tessera::butterfly
