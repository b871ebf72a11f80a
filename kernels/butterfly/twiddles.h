#pragma once

#include <complex>
#include <span>
#include <string>
#include <vector>

#include "kernels/butterfly/schedule.h"

namespace tessera::butterfly {

/// All twiddles of a product: seeded, or read from a file.
class Twiddles {
 public:
  /// Elements uniform in [-1, 1), angles in [-pi, pi).
  Twiddles(const Problem& problem, std::uint64_t seed);
  /// Reads a .npy file of shape [stages, features / 2, 2, 2] (complex numbers [..., 2, 2, 2],
  /// blocks [stages, features / (2 block), 2, 2, block, block]), or angles [stages, features / 2],
  /// and rounds to Problem::twiddle_type(). Throws KeyError naming workload.twiddles for another
  /// shape, UserError for values that are not numbers.
  Twiddles(const Problem& problem, const std::string& file);

  /// Number `at` of a twiddle as stored on tiles, rounded to its type: the rows of a 2x2 matrix
  /// (each element's real part, then its imaginary part), or cosine and sine.
  [[nodiscard]] double number(std::uint32_t stage, std::uint32_t pair, std::uint32_t at) const;

  /// Element (row, column) of a twiddle's matrix over its 2 x block features; real for real
  /// numbers.
  [[nodiscard]] std::complex<double> element(std::uint32_t stage, std::uint32_t pair,
                                             std::uint32_t row, std::uint32_t column) const;

  [[nodiscard]] std::uint64_t rounded() const { return rounded_; }
  /// Number `place` of an equivalent file.
  [[nodiscard]] double file_value(std::uint64_t place) const;

  /// Writes the twiddles of some groups of a pass for a part of the features; `adjoint`: of F^H.
  void fill(const RowPass& pass, std::uint32_t part, bool adjoint, Interval groups,
            std::span<std::byte> into) const;

 private:
  [[nodiscard]] double parameter(std::uint32_t stage, std::uint32_t pair, std::uint32_t at) const;
  /// The angle in radians, exact in f32.
  [[nodiscard]] double angle(std::uint32_t stage, std::uint32_t pair) const;

  Problem problem_;
  std::uint64_t seed_ = 0;
  std::vector<double> values_;  ///< empty if seeded
  std::uint64_t rounded_ = 0;
};

/// Tensor shape of a twiddle file.
std::vector<std::uint64_t> twiddle_shape(const Problem& problem);

/// Bytes of the twiddles of all groups.
std::uint32_t twiddle_bytes(const Problem& problem, const RowPass& pass);

}  // namespace tessera::butterfly
