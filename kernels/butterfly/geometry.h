#pragma once

#include <optional>
#include <span>

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
  kernels::Form unit = {};           ///< of products of blocks; none: the first of their forms
  kernels::Form outer_unit = {};     ///< the same of their gradients
};
void describe(config::Fields& fields, Plan& plan);

struct Candidate {
  Problem problem;  ///< in the form of its products
  Plan plan;
  Prediction prediction;
  std::uint64_t tile_bytes = 0;  ///< that the fullest tile needs
};

/// The plan of least predicted cycles in any of these forms of a problem that fits the machine's
/// SRAM, or the pinned plan in the form that is best for it. Throws UserError if none fits,
/// KeyError if the pinned one cannot be carried out.
Candidate choose_plan(std::span<const Problem> forms, const std::optional<Plan>& pinned,
                      MachineCosts& costs);

/// A plan as a part of a program, with its costs; its exchanges are estimated. Throws KeyError if
/// it cannot be carried out.
Candidate pinned_plan(const Plan& plan, const Problem& problem, plan::Pricing& pricing);

/// Which part of X each tile computes in a round: tile t has part t / split_features of the round's
/// columns, and of the features what a schedule says of t % split_features.
struct Geometry {
  Problem problem;
  Plan plan;
  std::uint32_t number = 0;  ///< of the round; the first has most columns

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
  /// Bytes of all rows of a tile.
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
        problem.for_line(rows.feature(feature_part(tile), row) * problem.lines() + i, units(tile),
                         at, take);
  }
};

}  // namespace tessera::butterfly
