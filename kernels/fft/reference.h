#pragma once

#include <complex>
#include <vector>

#include "kernels/fft/shape.h"

/// The plain transform in double.
namespace tessera::fft {

using Complex = std::complex<double>;

/// The transform of x, array after array and row after row, by decimation in time with bits
/// reversed: another algorithm than the tiles'.
std::vector<Complex> reference(const Problem& problem, std::vector<Complex> x);

/// exp(sign 2 pi i k / n), k below n / 2.
std::vector<Complex> roots(std::uint64_t n, double sign);
/// That transform of x[0], x[step], ..., n points, in place.
void transform(Complex* x, std::uint64_t n, std::uint64_t step, const std::vector<Complex>& root);

}  // namespace tessera::fft
