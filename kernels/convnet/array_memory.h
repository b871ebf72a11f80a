#pragma once

#include <vector>

#include "kernels/convnet/program.h"

/// The buffers of a network's program, and which of their bytes a part of a tensor is.
namespace tessera::convnet {

using program::BufferId;
using program::Place;
using program::Walk;

/// A tensor, or a slice of its columns, as it lies somewhere: [plane][row][column][8].
struct Area {
  Place base;
  std::uint32_t height, width;

  /// The area that begins `rows` rows further on.
  [[nodiscard]] Area below(std::uint32_t rows) const {
    return {{base.buffer, base.offset + rows * width * kPositionBytes}, height, width};
  }
  /// Rows of some columns, of some blocks; of the rows each `step`-th, `rows.size()` in all.
  [[nodiscard]] Walk part(Range blocks, Range rows, Range columns, std::uint32_t step = 1) const;
};

/// Rows of `bytes` side by side, of several blocks.
inline Walk rows_of(Place place, std::uint32_t bytes, const program::StreamExtent& blocks,
                    const program::StreamExtent& rows) {
  return {place, bytes, {{1, 0}, blocks, rows, {1, 0}}, {}};
}
/// `bytes` side by side.
inline Walk whole(Place place, std::uint32_t bytes) { return {place, bytes, {}, {}}; }

class ArrayMemory {
 public:
  /// Adds the buffers, with their contents, and the tensor of the result.
  ArrayMemory(const Plan& plan, program::Program& program);

  [[nodiscard]] Place in_core(std::uint32_t row, std::uint32_t column, std::uint32_t at) const {
    return {cores_[plan_.array.core(row, column)], at};
  }
  [[nodiscard]] Place in_tile(std::uint32_t column, std::uint32_t at) const {
    return {tiles_[column], at};
  }
  /// The slice of a layer's tensor in a memory tile; its first block is the layer's.
  [[nodiscard]] Area slice(std::uint32_t layer, std::uint32_t column) const;
  /// The columns of other memory tiles that a layer's window needs.
  [[nodiscard]] Area halo(std::uint32_t layer, std::uint32_t column, std::uint32_t columns) const;
  /// A layer's tensor in DDR.
  [[nodiscard]] Area outside(std::uint32_t layer) const;
  /// The result in DDR.
  [[nodiscard]] Area result() const;

 private:
  void add_result();

  const Plan& plan_;
  program::Program& program_;
  std::vector<BufferId> cores_, tiles_;
  BufferId image_{}, result_{};
  BufferId tensors_{};  ///< tensors of layers between these two, if DDR holds any
};

}  // namespace tessera::convnet
