#pragma once

#include <span>
#include <vector>

#include "kernels/gemm/geometry.h"
#include "kernels/gemm/reference.h"

namespace tessera::gemm {

/// Packed f16 arithmetic rounds every sum to f16; the matrix unit and other packed code to f32.
constexpr bool narrow_sums(const BlockShape& block) {
  return block.partial == Type::f16 && !block.on_unit();
}

/// What the machine makes of elements of Y, to the bit: every addition and rounding in the order in
/// which a plan has them. From the definition of the matrix unit (sim/isa/packed/matrix.h); inputs
/// from the plain operands, not from tiles.
class Replay {
 public:
  static constexpr std::uint64_t kRows = 8;  ///< of a block, at most

  Replay(const Geometry& geometry, const Finished& product)
      : geometry_(geometry), product_(product) {}

  [[nodiscard]] double element(std::uint64_t row, std::uint64_t column) const;
  /// Blocks of one column block, each at most kRows rows in one part of the rows: value (row,
  /// column) at [row][column in the block].
  [[nodiscard]] std::vector<std::vector<float>> blocks(std::span<const Interval> rows,
                                                       std::uint64_t column_block) const;

  struct Block {
    Interval rows;
    std::uint64_t column_block;
  };
  /// A block that `tile` has finished some of, chosen by `seed`; no rows if it has none.
  [[nodiscard]] Block chosen(std::uint32_t tile, std::uint64_t seed) const;

 private:
  /// Some rows of a column block of W, side by side.
  struct Weights {
    Interval depth;
    std::vector<float> values;  ///< [depth][padded columns]
  };
  [[nodiscard]] Weights weights(std::uint64_t column_block, Interval depth_blocks) const;
  void add_depth(Interval rows, const Weights& weights, std::vector<float>& y) const;
  [[nodiscard]] std::vector<float> finished(Interval rows, std::uint64_t column_block,
                                            const std::vector<std::vector<float>>& parts) const;
  [[nodiscard]] std::uint64_t padded_columns() const;
  [[nodiscard]] std::uint64_t adder(const Cell& cell, std::uint64_t row,
                                    std::uint64_t column) const;

  const Geometry& geometry_;
  const Finished& product_;
};

/// Compares a block a tile with the replayed one.
void compare_blocks(const Geometry& geometry, const Finished& product, const Rounding& rounding,
                    std::uint64_t seed, HostThreads& threads, kernels::Comparison& comparison);

}  // namespace tessera::gemm
