#include "kernels/fft/reference.h"

#include <numbers>
#include <utility>

namespace tessera::fft {

std::vector<Complex> roots(std::uint64_t n, double sign) {
  std::vector<Complex> all(n / 2);
  for (std::uint64_t i = 0; i < all.size(); ++i)
    all[i] = std::polar(
        1.0, sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  return all;
}

void transform(Complex* x, std::uint64_t n, std::uint64_t step, const std::vector<Complex>& root) {
  for (std::uint64_t i = 1, j = 0; i < n; ++i) {
    std::uint64_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j |= bit;
    if (i < j) std::swap(x[i * step], x[j * step]);
  }
  for (std::uint64_t half = 1; half < n; half *= 2) {
    for (std::uint64_t begin = 0; begin < n; begin += 2 * half) {
      for (std::uint64_t i = 0; i < half; ++i) {
        Complex& a = x[(begin + i) * step];
        Complex& b = x[(begin + i + half) * step];
        const Complex turned = b * root[i * (n / (2 * half))];
        b = a - turned;
        a += turned;
      }
    }
  }
}

std::vector<Complex> reference(const Problem& problem, std::vector<Complex> x) {
  const std::uint64_t columns = problem.points;
  const std::vector<Complex> along_row = roots(columns, problem.sign());
  const std::vector<Complex> along_column = roots(problem.rows, problem.sign());
  for (std::uint64_t row = 0; row < problem.all_rows(); ++row)
    transform(&x[row * columns], columns, 1, along_row);
  for (std::uint64_t array = 0; array < problem.total(); array += problem.each())
    for (std::uint64_t column = 0; column < columns; ++column)
      transform(&x[array + column], problem.rows, columns, along_column);
  return x;
}

}  // namespace tessera::fft
