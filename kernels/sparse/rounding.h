#pragma once

#include <cstdint>

#include "sim/program/program.h"

/// How far rounded sums may be off. A sum of L products p in any order may be off by
///   min((S + 1) u sum |p|, 8 u sqrt(S + 1) (|sum p| + 3 sqrt(sum p^2)))
///   + the same for L sums of roundoff v + r |sum p| + (S + 2) smallest sum + smallest result
/// where the partial sum is rounded S = ceil(L / depth) + parts times with roundoff u, inside a
/// block with v, and the result with r: the certain bound (Higham, Accuracy and Stability, 3.1), or
/// eight standard deviations of independent roundings of partial sums that walk from 0 to their
/// end (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), whichever is less.
namespace tessera::sparse {

constexpr double kDeviations = 8;  ///< the standard deviations of the bounds

/// Roundings that a result goes through.
struct Rounding {
  double sum;               ///< u: of storing a partial sum
  double inside = 0;        ///< v: of adding two products before the sum is stored
  double result;            ///< r: of rounding a result; 0 if it is the sum itself
  program::Type type;       ///< of the result
  program::Type partials;   ///< of stored sums
  std::uint32_t depth = 1;  ///< products that are added up before the sum is stored
  std::uint32_t parts = 1;  ///< partial sums that are added up at the end
  bool repeat = false;      ///< they may repeat each other: only the certain bound is taken
};

/// Roundings of results of type `result` from sums kept in `partials`, of which `depth` products at
/// a time are added (in f32) before the sum is stored, in up to `parts` parts.
Rounding rounding_of(program::Type result, program::Type partials, std::uint32_t depth = 1,
                     std::uint32_t parts = 1);

/// How far a sum of so many products may be off, of which value, sum of magnitudes and root of the
/// sum of squares are known.
double allowed_error(const Rounding& rounding, std::uint64_t products, double value,
                     double magnitudes, double root_squares);

/// Eight standard deviations of its roundings, even if they cannot come to so much.
double likely_error(const Rounding& rounding, std::uint64_t products, double value,
                    double root_squares);

/// The standard deviation, at most, that independent roundings give to a sum with random signs of
/// `length` such elements, of which value and root_squares are root mean squares.
double deviation(const Rounding& rounding, std::uint64_t products, double value,
                 double root_squares, double length);

}  // namespace tessera::sparse
