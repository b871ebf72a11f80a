#pragma once

#include <span>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/gemm/geometry.h"

namespace tessera::gemm {

/// Packed f16 arithmetic rounds every sum to f16; the matrix unit and other packed code to f32.
constexpr bool narrow_sums(const BlockShape& block) {
  return block.partial == Type::f16 && !block.on_unit();
}

/// What was multiplied and what was found, Y[rows, columns] of X[rows, depth] W[depth, columns],
/// each row after row.
struct Finished {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t depth = 0;
  std::vector<float> x, w, y;
};

/// The bit-exact reference of elements of Y: every addition and rounding in the order in which a
/// plan has them. From the definition of the matrix unit (sim/isa/packed/matrix.h); inputs from the
/// plain operands, not from tiles.
class BitExact {
 public:
  /// Both outlive it.
  BitExact(const Geometry& geometry, const Finished& product)
      : geometry_(geometry), product_(product) {}

  /// Elements of a row.
  void row(std::uint64_t row, Interval columns, std::span<float> y) const;
  /// Up to eight rows of a column block that `tile` has finished some of, chosen by `seed`; none if
  /// it has none.
  [[nodiscard]] std::vector<kernels::Strip> chosen(std::uint32_t tile, std::uint64_t seed) const;

 private:
  void add_part(std::uint32_t part, std::uint64_t row, Interval columns,
                std::span<float> sums) const;
  [[nodiscard]] std::uint64_t adder(std::uint64_t row, std::uint64_t column) const;

  const Geometry& geometry_;
  const Finished& product_;
};

}  // namespace tessera::gemm
