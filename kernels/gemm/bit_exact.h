#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/gemm/outside.h"

namespace tessera::gemm {

/// Packed f16 arithmetic rounds every sum to f16; the matrix unit and other packed code to f32.
constexpr bool narrow_sums(const BlockShape& block) {
  return block.partial == Type::f16 && !block.on_unit();
}

/// Some elements of C.
struct Elements {
  Interval rows, columns;
};

/// A row of A, which may lie in `scratch`.
using RowOfA =
    std::function<std::span<const float>(std::uint64_t row, std::vector<float>& scratch)>;

/// The bit-exact reference of elements of C[m, n] = A[m, k] B[k, n]: every addition and rounding in
/// the order in which a plan has them. From the definition of the matrix unit
/// (sim/isa/packed/matrix.h); inputs from the plain operands, not from tiles.
class BitExact {
 public:
  /// `b` is row after row, without padding; it and the geometry outlive this. `grid`: the rounds,
  /// of which the geometry is one's.
  BitExact(const Geometry& geometry, const Product& size, std::span<const float> b,
           const RoundGrid& grid = {})
      : geometry_(geometry), size_(size), b_(b), grid_(grid) {}

  /// Elements of row `row` of C from that row of A.
  void row(std::uint64_t row, std::span<const float> a, Interval columns,
           std::span<float> c) const {
    make_row(row, a, columns, {&b_[columns.begin], size_.n}, c);
  }
  /// Compares the elements of a block of C, `c` being all of it.
  void compare(const Elements& block, const RowOfA& row_of_a, std::span<const float> c,
               kernels::Comparison& into) const;
  /// Elements of a block that `tile` has finished some of, chosen by `seed`: up to eight rows of Y
  /// (columns with stationary a); none if it has none.
  [[nodiscard]] Elements chosen(std::uint32_t tile, std::uint64_t seed) const;

 private:
  /// Columns of B, `step` numbers from row to row.
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
