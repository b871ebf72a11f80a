#pragma once

#include <span>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/gemm/outside.h"

namespace tessera::gemm {

/// Packed f16 arithmetic rounds every sum to f16; the matrix unit and other packed code to f32.
constexpr bool narrow_sums(const BlockShape& block) {
  return block.partial == Type::f16 && !block.on_unit();
}

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
  void row(std::uint64_t row, std::span<const float> a, Interval columns, std::span<float> c) const;
  /// Up to eight rows (with stationary a columns) of a block of Y that `tile` has finished some of,
  /// chosen by `seed`, in rows of C; none if it has none.
  [[nodiscard]] std::vector<kernels::Strip> chosen(std::uint32_t tile, std::uint64_t seed) const;

 private:
  [[nodiscard]] bool turned() const { return geometry_.plan().stationary == Stationary::a; }
  void add_part(std::uint32_t part, std::span<const float> a, std::uint64_t column,
                std::span<float> sums) const;
  [[nodiscard]] std::uint64_t adder(std::uint64_t row, std::uint64_t column) const;

  const Geometry& geometry_;
  Product size_;
  std::span<const float> b_;
  RoundGrid grid_;
};

}  // namespace tessera::gemm
