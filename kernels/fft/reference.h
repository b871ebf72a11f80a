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

/// By the definition, N^2 terms.
std::vector<Complex> definition(const Problem& problem, const std::vector<Complex>& x);

}  // namespace tessera::fft
