#pragma once

#include <span>
#include <vector>

#include "kernels/butterfly/reference.h"
#include "kernels/check/signs.h"
#include "sim/base/parallel.h"

namespace tessera::butterfly {

/// A product of factors and X as it was found: [features][n], complex numbers as pairs.
struct SignedProduct {
  const Problem& problem;
  const std::vector<RealFactor>& factors;
  const data::DenseOperand& x;
  std::span<const float> found;
  Roundings roundings;  ///< `independent` if the data is seeded
};

/// Sums with random signs of segments of the columns, of every row, against the factors applied to
/// the same sums of X: where they stand out. What roundings give to a sum comes from the factors
/// too: sums with random signs are as large as the root of the sum of squares, stage by stage.
kernels::Screen screen_columns(const SignedProduct& product, const kernels::SignVectors& signs,
                               HostThreads& threads);

}  // namespace tessera::butterfly
