#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/gemm/outside.h"

namespace tessera::gemm {

/// True if every sum is rounded to f16, as in packed f16 arithmetic; the matrix unit and other
/// packed code round to f32.
constexpr bool narrow_sums(const BlockShape& block) {
  return block.partial == Type::f16 && !block.on_unit();
}

/// A block of elements of C.
struct Elements {
  Interval rows, columns;
};

/// Returns a row of A, which may be stored in `scratch`.
using RowOfA =
    std::function<std::span<const float>(std::uint64_t row, std::vector<float>& scratch)>;

/// The bit-exact reference of elements of C[m, n] = A[m, k] B[k, n], with every addition and
/// rounding in the order of a plan. Follows the definition of the matrix unit
/// (sim/isa/packed/matrix.h); inputs are the plain operands, not those of tiles.
class BitExact {
 public:
  /// `b` is row-major without padding; it and the geometry must outlive this. `grid`: the rounds;
  /// the geometry is that of one round.
  BitExact(const Geometry& geometry, const Product& size, std::span<const float> b,
           const RoundGrid& grid = {})
      : geometry_(geometry), size_(size), b_(b), grid_(grid) {}

  /// Computes elements of row `row` of C from that row of A.
  void row(std::uint64_t row, std::span<const float> a, Interval columns,
           std::span<float> c) const {
    make_row(row, a, columns, {&b_[columns.begin], size_.n}, c);
  }
  /// Compares the elements of a block of C; `c` is all of C.
  void compare(const Elements& block, const RowOfA& row_of_a, std::span<const float> c,
               kernels::Comparison& into) const;
  /// A block of which `tile` has computed elements, chosen by `seed`: up to eight rows of Y
  /// (columns with stationary a); empty if the tile has none.
  [[nodiscard]] Elements chosen(std::uint32_t tile, std::uint64_t seed) const;

 private:
  /// Columns of B with a row pitch of `step` numbers.
  struct Panel {
    const float* first;
    std::size_t step;
  };

  void make_row(std::uint64_t row, std::span<const float> a, Interval columns, const Panel& b,
                std::span<float> c) const;
  void add_part(std::uint32_t part, std::span<const float> a, const Panel& b,
                std::span<float> sums) const;
  [[nodiscard]] std::uint64_t adder(std::uint64_t row, std::uint64_t column) const;

  const Geometry& geometry_;
  Product size_;
  std::span<const float> b_;
  RoundGrid grid_;
};

}  // namespace tessera::gemm
