#pragma once

#include <complex>
#include <vector>

#include "kernels/fft/shape.h"

/// The plain transform in double precision.
namespace tessera::fft {

using Complex = std::complex<double>;

/// Transforms x, array by array and row by row, by decimation in time with bit reversal: a
/// different algorithm from the tiles'.
std::vector<Complex> reference(const Problem& problem, std::vector<Complex> x);

/// exp(sign 2 pi i k / n), k below n / 2.
std::vector<Complex> roots(std::uint64_t n, double sign);
/// Transforms the n points x[0], x[step], ... in place.
void transform(Complex* x, std::uint64_t n, std::uint64_t step, const std::vector<Complex>& root);

}  // namespace tessera::fft
