#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/gemm/outside.h"

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

/// The operands of a product that is computed again; spans may lie in `scratch`.
struct Multiplied {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t depth = 0;
  std::function<std::span<const float>(std::uint64_t row, std::vector<float>& scratch)> x;
  /// Columns of W: the first element of each input, `step` from one to the next.
  struct Columns {
    const float* first;
    std::size_t step;
  };
  std::function<Columns(Interval columns, std::vector<float>& scratch)> w;
};
/// Those of `product`, which outlives it.
Multiplied operands_of(const Finished& product);

/// The bit-exact reference of elements of Y: every addition and rounding in the order in which a
/// plan has them. From the definition of the matrix unit (sim/isa/packed/matrix.h); inputs from the
/// plain operands, not from tiles.
class BitExact {
 public:
  /// Both outlive it. `grid`: the rounds, of which the geometry is one's.
  BitExact(const Geometry& geometry, const Finished& product, const RoundGrid& grid = {})
      : BitExact(geometry, operands_of(product), grid) {}
  BitExact(const Geometry& geometry, Multiplied product, const RoundGrid& grid)
      : geometry_(geometry), product_(std::move(product)), grid_(grid) {}

  /// Elements of a row.
  void row(std::uint64_t row, Interval columns, std::span<float> y) const;
  /// Up to eight rows of a column block that `tile` has finished some of, chosen by `seed`; none if
  /// it has none.
  [[nodiscard]] std::vector<kernels::Strip> chosen(std::uint32_t tile, std::uint64_t seed) const;

 private:
  void add_part(std::uint32_t part, std::span<const float> x, Multiplied::Columns w,
                std::span<float> sums) const;
  [[nodiscard]] std::uint64_t adder(std::uint64_t row, std::uint64_t column) const;

  const Geometry& geometry_;
  Multiplied product_;
  RoundGrid grid_;
};

}  // namespace tessera::gemm
