#include "kernels/sparse/rounding.h"

#include <algorithm>
#include <cmath>

#include "sim/base/types.h"
#include "sim/data/element.h"

namespace tessera::sparse {

namespace {

constexpr double kWalk = 3;  // how many standard deviations a partial sum strays on its way

/// Eight standard deviations of what `steps` roundings of relative error u add to a sum of such
/// products.
double likely_drift(double u, double steps, double value, double root_squares) {
  return kDeviations * u * std::sqrt(steps) * (std::abs(value) + kWalk * root_squares);
}

/// What they may add.
double drift(double u, double steps, double value, double magnitudes, double root_squares,
             bool repeat) {
  const double certain = steps * u * magnitudes;
  return repeat ? certain : std::min(certain, likely_drift(u, steps, value, root_squares));
}

double half_smallest(program::Type type) { return type == program::Type::f16 ? 0x1p-25 : 0x1p-150; }

double stored_sums(const Rounding& rounding, std::uint64_t products) {
  return static_cast<double>(ceil_div<std::uint64_t>(products, rounding.depth) + rounding.parts);
}

double below_normal(const Rounding& rounding, double stored) {
  return (stored + 2) * half_smallest(rounding.partials) + half_smallest(rounding.type);
}

}  // namespace

double allowed_error(const Rounding& rounding, std::uint64_t products, double value,
                     double magnitudes, double root_squares) {
  if (products == 0) return 0;
  const double stored = stored_sums(rounding, products);
  return drift(rounding.sum, stored + 1, value, magnitudes, root_squares, rounding.repeat) +
         drift(rounding.inside, static_cast<double>(products), value, magnitudes, root_squares,
               rounding.repeat) +
         rounding.result * std::abs(value) + below_normal(rounding, stored);
}

double likely_error(const Rounding& rounding, std::uint64_t products, double value,
                    double root_squares) {
  const double stored = stored_sums(rounding, products);
  return likely_drift(rounding.sum, stored + 1, value, root_squares) +
         likely_drift(rounding.inside, static_cast<double>(products), value, root_squares) +
         kDeviations * rounding.result * std::abs(value) + below_normal(rounding, stored);
}

double deviation(const Rounding& rounding, std::uint64_t products, double value,
                 double root_squares, double length) {
  if (products == 0) return 0;
  const double stored = stored_sums(rounding, products);
  const double partial = value + root_squares;  // a partial sum on its walk
  const double squares =
      rounding.sum * rounding.sum * (stored + 1) * partial * partial +
      rounding.inside * rounding.inside * static_cast<double>(products) * partial * partial +
      rounding.result * rounding.result * value * value;
  const double small = below_normal(rounding, stored);
  return std::sqrt(length * (squares / 3 + small * small));
}

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

}  // namespace tessera::sparse
