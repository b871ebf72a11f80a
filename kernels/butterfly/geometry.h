#pragma once

#include "kernels/butterfly/schedule.h"
#include "kernels/butterfly/shape.h"
#include "sim/config/fields.h"
#include "sim/plan/pricing.h"

namespace tessera::butterfly {

/// Partition of a product over tiles and workers.
struct Plan {
  std::uint32_t split_features = 1;  ///< parts of the features: a power of two
  std::uint32_t split_n = 1;         ///< parts of the columns
  std::uint32_t fused = 1;           ///< number of factors applied in registers
  std::uint32_t workers_n = 1;       ///< parts of a tile's columns among its workers
  std::uint32_t rounds = 1;          ///< equal parts of the columns, processed one after the other
  kernels::Form unit = {};           ///< form of block products; none: the first available
  kernels::Form outer_unit = {};     ///< form of blocks' gradients; none: the first
};
void describe(config::Fields& fields, Plan& plan);

struct Candidate {
  Plan plan;
  Prediction prediction;
  std::uint64_t tile_bytes = 0;  ///< bytes on the fullest tile
};

/// Prices a plan that is part of a larger program; its exchanges are estimated. Throws KeyError if
/// it is not feasible.
Candidate pinned_plan(const Plan& plan, const Problem& problem, plan::Pricing& pricing);

/// The part of X that each tile computes in a round: tile t has part t / split_features of the
/// round's columns and, of the features, those that the schedule assigns to t % split_features.
struct Geometry {
  Problem problem;
  Plan plan;
  std::uint32_t number = 0;  ///< number of the round; the first has the most columns

  [[nodiscard]] Geometry round(std::uint32_t of) const { return {problem, plan, of}; }
  /// Column units of the round.
  [[nodiscard]] Interval round_units() const {
    return EvenSplit{problem.units(), plan.rounds}.part(number);
  }
  [[nodiscard]] std::uint32_t tiles() const { return plan.split_features * plan.split_n; }
  [[nodiscard]] std::uint32_t rows() const { return problem.blocks() / plan.split_features; }
  [[nodiscard]] std::uint32_t feature_part(std::uint32_t tile) const {
    return tile % plan.split_features;
  }
  /// Calls take(tile) for all tiles with the same features as `tile`.
  template <class Take>
  void for_alike(std::uint32_t tile, const Take& take) const {
    for (std::uint32_t part = 0; part < plan.split_n; ++part)
      take(feature_part(tile) + part * plan.split_features);
  }
  /// Column units of a tile; tile 0 has the most.
  [[nodiscard]] Interval units(std::uint32_t tile) const {
    const Interval all = round_units();
    const Interval mine = EvenSplit{all.size(), plan.split_n}.part(tile / plan.split_features);
    return {all.begin + mine.begin, all.begin + mine.end};
  }
  /// Number of partial sums of outer products on a tile, one for each part of its columns among
  /// workers; with few units some workers are idle.
  [[nodiscard]] std::uint32_t arrays(std::uint32_t tile) const {
    const std::uint64_t steps = units(tile).size() * problem.unit_bytes() / problem.step_bytes();
    return word(std::min<std::uint64_t>(steps, plan.workers_n));
  }
  [[nodiscard]] std::uint64_t bytes(std::uint32_t tile) const {
    return units(tile).size() * problem.unit_bytes() * rows();
  }

  /// Calls take(feature, column, at), as Problem::for_line(), for the values of a tile whose rows
  /// are `rows`.
  template <class Take>
  void for_values(std::uint32_t tile, const Rows& rows, const Take& take) const {
    std::size_t at = 0;
    for (std::uint32_t row = 0; row < this->rows(); ++row)
      for (std::uint64_t i = 0; i < problem.lines(); ++i)
        problem.for_line(std::uint64_t{problem.lines()} * rows.feature(feature_part(tile), row) + i,
                         units(tile), at, take);
  }
};

/// Layout of twiddle gradients. On a tile: by factor, then by pair, then the values of each; blocks
/// in pieces [outputs at once of the product][input feature][output]. Tiles with the same features
/// hold sums over different columns, and each of them adds one share of all.
class GradientLayout {
 public:
  explicit GradientLayout(const Geometry& geometry);

  /// Bytes of a tile's sums of outer products: 16 per pair (complex: 32), for blocks all elements
  /// with padding.
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint32_t pair_bytes() const { return pair_bytes_; }
  /// Offset of a factor's gradients.
  [[nodiscard]] std::uint64_t stage_begin(std::uint32_t stage) const;
  /// Byte range of the share that a tile adds.
  [[nodiscard]] Interval share(std::uint32_t tile) const;
  [[nodiscard]] const std::vector<RowPass>& passes() const { return passes_; }

  /// Calls take(stage, pair) for every pair in a tile's share, in order.
  template <class Take>
  void for_pairs(std::uint32_t tile, const Take& take) const {
    for_pieces(tile, [&](std::uint32_t stage, std::uint32_t pair, std::uint32_t /*piece*/) {
      take(stage, pair);
    });
  }
  /// Calls take() for the pieces of a pair's elements: all elements, or those of one input feature
  /// of a block.
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
  std::uint32_t piece_bytes_;    ///< minimum share of a tile
  std::vector<RowPass> passes_;  ///< by factor
};

}  // namespace tessera::butterfly
