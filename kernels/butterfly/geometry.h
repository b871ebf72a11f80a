#pragma once

#include "kernels/butterfly/schedule.h"
#include "kernels/butterfly/shape.h"
#include "sim/config/fields.h"
#include "sim/plan/pricing.h"

namespace tessera::butterfly {

/// How a product is cut over tiles and workers.
struct Plan {
  std::uint32_t split_features = 1;  ///< parts of the features: a power of two
  std::uint32_t split_n = 1;         ///< parts of the columns
  std::uint32_t fused = 1;           ///< factors that are applied in registers
  std::uint32_t workers_n = 1;       ///< parts of a tile's columns among its workers
  std::uint32_t rounds = 1;          ///< equal parts of the columns, one after the other
  kernels::Form unit = {};           ///< form of block products; none: the first of their forms
  kernels::Form outer_unit = {};     ///< form of the gradients' block products; none: the first
};
void describe(config::Fields& fields, Plan& plan);

struct Candidate {
  Plan plan;
  Prediction prediction;
  std::uint64_t tile_bytes = 0;  ///< that the fullest tile needs
};

/// A plan as a part of a program, with its costs; its exchanges are estimated. Throws KeyError if
/// it cannot be carried out.
Candidate pinned_plan(const Plan& plan, const Problem& problem, plan::Pricing& pricing);

/// Which part of X each tile computes in a round: tile t has part t / split_features of the round's
/// columns, and of the features what a schedule says of t % split_features.
struct Geometry {
  Problem problem;
  Plan plan;
  std::uint32_t number = 0;  ///< number of the round; the first has most columns

  [[nodiscard]] Geometry round(std::uint32_t of) const { return {problem, plan, of}; }
  /// Units of columns of the round.
  [[nodiscard]] Interval round_units() const {
    return EvenSplit{problem.units(), plan.rounds}.part(number);
  }
  [[nodiscard]] std::uint32_t tiles() const { return plan.split_features * plan.split_n; }
  [[nodiscard]] std::uint32_t rows() const { return problem.blocks() / plan.split_features; }
  [[nodiscard]] std::uint32_t feature_part(std::uint32_t tile) const {
    return tile % plan.split_features;
  }
  /// Calls take(tile) for the tiles with the features of `tile`.
  template <class Take>
  void for_alike(std::uint32_t tile, const Take& take) const {
    for (std::uint32_t part = 0; part < plan.split_n; ++part)
      take(feature_part(tile) + part * plan.split_features);
  }
  /// Units of columns of a tile; tile 0 has most.
  [[nodiscard]] Interval units(std::uint32_t tile) const {
    const Interval all = round_units();
    const Interval mine = EvenSplit{all.size(), plan.split_n}.part(tile / plan.split_features);
    return {all.begin + mine.begin, all.begin + mine.end};
  }
  /// Sums of outer products on a tile, one for each part of its columns among workers: few units
  /// leave workers idle.
  [[nodiscard]] std::uint32_t arrays(std::uint32_t tile) const {
    const std::uint64_t steps = units(tile).size() * problem.unit_bytes() / problem.step_bytes();
    return word(std::min<std::uint64_t>(steps, plan.workers_n));
  }
  [[nodiscard]] std::uint64_t bytes(std::uint32_t tile) const {
    return units(tile).size() * problem.unit_bytes() * rows();
  }

  /// Calls take(feature, column, at) as Problem::for_line() for the numbers of a tile whose rows
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

/// Where the gradients of twiddles lie. Those of a tile: factor after factor, pair after pair, the
/// numbers of each; of blocks in pieces, [outputs at once of the product][input feature][output].
/// Tiles with the same features hold sums over other columns, and each of them adds up one share.
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
  /// Calls take() for pieces of a pair's elements: all, or those of one input feature of blocks.
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
