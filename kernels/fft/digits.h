#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/fft/plan.h"

/// A point's number as digits, and which of them each tile holds while one after the other is
/// transformed.
namespace tessera::fft {

/// Digit d of lengths[d] values, the first weighing most in a point's number. In phase p a tile has
/// all values of digit p and parts of the others: [p][p + 1]...[last][0]...[p - 1], the last of
/// these by pairs. Between phases p and p + 1 tiles whose numbers differ in coordinate p alone
/// exchange parts of digit p for parts of digit p + 1. The arrays of a batch are digit 0: the
/// transform begins with phase 1, as if phase 0 had been.
class Digits {
 public:
  Digits(const Problem& problem, const Plan& plan);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::uint32_t phases() const {
    return static_cast<std::uint32_t>(plan_.lengths.size());
  }
  [[nodiscard]] std::uint32_t first_phase() const { return problem_.first_phase(); }
  [[nodiscard]] std::uint32_t length(std::uint32_t digit) const { return plan_.lengths[digit]; }
  /// Tiles that the plan uses.
  [[nodiscard]] std::uint32_t tiles() const;
  /// Coordinate `axis` (0 to phases - 2) of a tile, and the tile that differs in it.
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t tile, std::uint32_t axis) const;
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t tile, std::uint32_t axis,
                                        std::uint32_t coordinate) const;

  /// The digits in the order in which they lie during a phase.
  [[nodiscard]] std::vector<std::uint32_t> order(std::uint32_t phase) const;
  /// Values of a digit on a tile during a phase.
  [[nodiscard]] Interval values(std::uint32_t tile, std::uint32_t phase, std::uint32_t digit) const;
  /// The part of digit `phase` that the tile of coordinate `part` takes after the phase.
  [[nodiscard]] Interval part(std::uint32_t phase, std::uint32_t part) const;
  /// Columns of the transforms of a phase; an even number.
  [[nodiscard]] std::uint64_t columns(std::uint32_t tile, std::uint32_t phase) const;
  /// Points of a tile, padding included.
  [[nodiscard]] std::uint64_t held(std::uint32_t tile, std::uint32_t phase) const {
    return columns(tile, phase) * length(phase);
  }
  /// Of all phases.
  [[nodiscard]] std::uint64_t most_held(std::uint32_t tile) const;

  /// Whether the digits of phases p and p + 1 belong to one dimension, so that twiddles stand
  /// between them.
  [[nodiscard]] bool turns_after(std::uint32_t phase) const;
  /// exp(-+2 pi i e) between phases p and p + 1 is that of this e, as a fraction of `turn_whole`.
  [[nodiscard]] std::uint64_t turn(std::uint32_t phase,
                                   std::span<const std::uint32_t> values) const;
  [[nodiscard]] std::uint64_t turn_whole(std::uint32_t phase) const;

  /// The number of the point that digits of these values stand for before and after the transform.
  [[nodiscard]] std::uint64_t input(std::span<const std::uint32_t> values) const;
  [[nodiscard]] std::uint64_t output(std::span<const std::uint32_t> values) const;
  /// The digit of which neighbouring values are neighbours in the result.
  [[nodiscard]] std::uint32_t fastest_output() const;

  /// Calls take(values by digit) for every point of a tile during a phase, in the order in which
  /// they lie; padding has digit 0 beyond its length.
  template <class Take>
  void for_points(std::uint32_t tile, std::uint32_t phase, const Take& take) const;

 private:
  /// First digit of the dimension that `digit` belongs to, and one past its last.
  [[nodiscard]] Interval dimension(std::uint32_t digit) const;

  Problem problem_;
  Plan plan_;
  std::uint32_t row_end_ = 0;  ///< one past the digits of the first of two dimensions
};

template <class Take>
void Digits::for_points(std::uint32_t tile, std::uint32_t phase, const Take& take) const {
  const std::vector<std::uint32_t> digits = order(phase);
  std::vector<Interval> ranges;
  ranges.reserve(digits.size());
  for (const std::uint32_t digit : digits) ranges.push_back(values(tile, phase, digit));
  for (const Interval& range : ranges)
    if (range.size() == 0) return;
  std::vector<std::uint32_t> now(phases());
  for (std::size_t d = 0; d < digits.size(); ++d)
    now[digits[d]] = static_cast<std::uint32_t>(ranges[d].begin);
  for (;;) {
    take(std::span<const std::uint32_t>(now));
    std::size_t d = digits.size();
    while (d-- > 0) {
      if (++now[digits[d]] < ranges[d].end) break;
      if (d == 0) return;
      now[digits[d]] = static_cast<std::uint32_t>(ranges[d].begin);
    }
  }
}

}  // namespace tessera::fft
