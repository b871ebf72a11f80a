#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/fft/shape.h"

/// A point's number as digits, and the digits that each tile holds in each phase.
namespace tessera::fft {

/// Digit d has lengths[d] values; the first digit is the most significant. In phase p a tile has
/// all values of digit p and parts of the others, ordered [p][p + 1]...[last][0]...[p - 1], the
/// last of them in pairs. Between phases p and p + 1 tiles whose numbers differ only in coordinate
/// p exchange parts of digit p for parts of digit p + 1. The arrays of a batch are digit 0: the
/// transform begins with phase 1.
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
  /// Number of tiles that the plan uses.
  [[nodiscard]] std::uint32_t tiles() const;
  /// Coordinate `axis` (0 to phases - 2) of a tile, and the tile that differs from it in this
  /// coordinate.
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t tile, std::uint32_t axis) const;
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t tile, std::uint32_t axis,
                                        std::uint32_t coordinate) const;

  /// The order of the digits in memory during a phase.
  [[nodiscard]] std::vector<std::uint32_t> order(std::uint32_t phase) const;
  /// Values of a digit that a tile holds during a phase.
  [[nodiscard]] Interval values(std::uint32_t tile, std::uint32_t phase, std::uint32_t digit) const;
  /// The part of digit `phase` that the tile with coordinate `part` receives after the phase.
  [[nodiscard]] Interval part(std::uint32_t phase, std::uint32_t part) const;
  /// Columns of the transforms of a phase on a tile; an even number.
  [[nodiscard]] std::uint64_t columns(std::uint32_t tile, std::uint32_t phase) const;
  /// Points on a tile, padding included.
  [[nodiscard]] std::uint64_t held(std::uint32_t tile, std::uint32_t phase) const {
    return columns(tile, phase) * length(phase);
  }
  /// The most points that a tile holds in any phase.
  [[nodiscard]] std::uint64_t most_held(std::uint32_t tile) const;

  /// True if the digits of phases p and p + 1 belong to the same dimension, so that twiddles are
  /// needed between them.
  [[nodiscard]] bool turns_after(std::uint32_t phase) const;
  /// The twiddle between phases p and p + 1 is exp(-+2 pi i e); returns e as a multiple of 1 /
  /// `turn_whole`.
  [[nodiscard]] std::uint64_t turn(std::uint32_t phase,
                                   std::span<const std::uint32_t> values) const;
  [[nodiscard]] std::uint64_t turn_whole(std::uint32_t phase) const;

  /// The number of the point with these digits before and after the transform.
  [[nodiscard]] std::uint64_t input(std::span<const std::uint32_t> values) const;
  [[nodiscard]] std::uint64_t output(std::span<const std::uint32_t> values) const;
  /// The digit whose neighbouring values are neighbours in the result.
  [[nodiscard]] std::uint32_t fastest_output() const { return row_end_; }
  /// Points of the result that are contiguous on a tile after the last phase, if the fastest digit
  /// is stored last.
  struct Run {
    std::uint32_t tile;
    std::uint64_t at;  ///< index of the first point on the tile
    std::uint64_t points;
  };
  [[nodiscard]] Run result_run(std::uint64_t number) const;

  /// Calls take(values, at, points) for each contiguous run of points of a tile during a phase with
  /// digits stored in `order`: the points of a run differ only in its last digit. `values`: digits
  /// of the first point; `at`: its index on the tile.
  template <class Take>
  void for_runs(std::uint32_t tile, std::uint32_t phase, const std::vector<std::uint32_t>& order,
                const Take& take) const;
  /// Calls take(values, byte) for every point of a tile during a phase, in memory order: the real
  /// part is at that byte, the imaginary part 8 bytes further.
  template <class Take>
  void for_points(std::uint32_t tile, std::uint32_t phase, const Take& take) const;

 private:
  /// Byte offset of the real part of point `at` of a tile.
  [[nodiscard]] std::uint64_t point_offset(std::uint64_t at) const {
    if (phases() == 1) return at * kUnitBytes;
    return at / kUnitPoints * kUnitBytes + at % kUnitPoints * kRealBytes;
  }
  /// First digit of the dimension that `digit` belongs to, and one past its last.
  [[nodiscard]] Interval dimension(std::uint32_t digit) const;

  Problem problem_;
  Plan plan_;
  std::uint32_t row_end_ = 0;  ///< first digit of the last dimension
};

template <class Take>
void Digits::for_runs(std::uint32_t tile, std::uint32_t phase,
                      const std::vector<std::uint32_t>& order, const Take& take) const {
  std::vector<Interval> ranges;
  std::vector<std::uint32_t> now(phases());
  for (const std::uint32_t digit : order) {
    ranges.push_back(values(tile, phase, digit));
    now[digit] = word(ranges.back().begin);
  }
  const std::uint64_t points = ranges.back().size();
  for (std::uint64_t at = 0;; at += points) {
    take(std::span<const std::uint32_t>(now), at, points);
    std::size_t d = order.size() - 1;
    while (d > 0 && ++now[order[d - 1]] == ranges[d - 1].end) {
      now[order[d - 1]] = word(ranges[d - 1].begin);
      --d;
    }
    if (d == 0) return;
  }
}

template <class Take>
void Digits::for_points(std::uint32_t tile, std::uint32_t phase, const Take& take) const {
  const std::vector<std::uint32_t> digits = order(phase);
  for_runs(tile, phase, digits,
           [&](std::span<const std::uint32_t> first, std::uint64_t at, std::uint64_t points) {
             std::vector<std::uint32_t> values(first.begin(), first.end());
             for (const std::uint64_t end = at + points; at < end; ++at, ++values[digits.back()])
               take(std::span<const std::uint32_t>(values), point_offset(at));
           });
}

}  // namespace tessera::fft
