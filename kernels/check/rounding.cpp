#include "kernels/check/rounding.h"

#include <algorithm>

#include "sim/base/types.h"
#include "sim/data/element.h"

namespace tessera::kernels {

namespace {

constexpr double kBoundDeviations = 8;
constexpr double kWalk = 3;  // standard deviations that a partial sum strays on its way

/// Bound on the error that `steps` roundings of relative error u add to a sum.
double drift(double u, double steps, const ProductSum& sum) {
  const double likely = kBoundDeviations * u * std::sqrt(steps) *
                        (std::abs(sum.value) + kWalk * std::sqrt(sum.squares));
  return std::min(steps * u * sum.magnitudes, likely);
}

double stored_sums(const Rounding& rounding, const ProductSum& sum) {
  return static_cast<double>(ceil_div<std::uint64_t>(sum.products, rounding.depth) +
                             rounding.parts);
}

double below_normal(const Rounding& rounding, double stored) {
  return (stored + 2) * half_smallest(rounding.partials) + half_smallest(rounding.type);
}

}  // namespace

Rounding rounding_of(program::Type result, program::Type partials, std::uint32_t depth,
                     std::uint32_t parts) {
  const double inside = depth == 1 ? 0 : data::unit_roundoff(program::Type::f32);
  return {data::unit_roundoff(partials),
          inside,
          result == partials ? 0 : data::unit_roundoff(result),
          result,
          partials,
          depth,
          parts};
}

Compared ProductSum::compared(std::uint64_t row, std::uint64_t column, double found,
                              const Rounding& rounding) const {
  return {row, column, found, value, allowed_error(rounding, *this), magnitudes};
}

double allowed_error(const Rounding& rounding, const ProductSum& sum) {
  if (sum.products == 0) return 0;
  const double stored = stored_sums(rounding, sum);
  return drift(rounding.sum, stored + 1, sum) +
         drift(rounding.inside, static_cast<double>(sum.products), sum) +
         rounding.result * std::abs(sum.value) + below_normal(rounding, stored);
}

/// A partial sum walks from 0 to its end: its mean square is half the sum of squares and a third of
/// the square of the value. A rounding is off by up to its relative error, evenly.
double deviation(const Rounding& rounding, const ProductSum& sum, double length) {
  if (sum.products == 0) return 0;
  const double stored = stored_sums(rounding, sum);
  const double value = sum.value * sum.value;
  const double partial = sum.squares / 2 + value / 3;
  const double squares =
      rounding.sum * rounding.sum * (stored + 1) * partial +
      rounding.inside * rounding.inside * static_cast<double>(sum.products) * partial +
      rounding.result * rounding.result * value;
  const double small = below_normal(rounding, stored);
  return std::sqrt(length * (squares / 3 + small * small));
}

}  // namespace tessera::kernels
