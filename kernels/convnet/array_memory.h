#pragma once

#include <vector>

#include "kernels/convnet/program.h"

/// The buffers of a network's program, and the bytes of parts of tensors in them.
namespace tessera::convnet {

using program::BufferId;
using program::Place;
using program::Walk;

/// A tensor, or a slice of its columns, in memory: [plane][row][column][8].
struct Area {
  Place base;
  std::uint32_t height, width;

  /// The area starting `rows` rows further down.
  [[nodiscard]] Area below(std::uint32_t rows) const {
    return {{base.buffer, base.offset + rows * width * kPositionBytes}, height, width};
  }
  /// A walk over some blocks, rows and columns; of the rows every `step`-th, `rows.size()` in all.
  [[nodiscard]] Walk part(Range blocks, Range rows, Range columns, std::uint32_t step = 1) const;
};

/// A walk over rows of `bytes` contiguous bytes, in several blocks.
inline Walk rows_of(Place place, std::uint32_t bytes, const program::StreamExtent& blocks,
                    const program::StreamExtent& rows) {
  return {place, bytes, {{1, 0}, blocks, rows, {1, 0}}, {}};
}
/// A walk over `bytes` contiguous bytes.
inline Walk whole(Place place, std::uint32_t bytes) { return {place, bytes, {}, {}}; }

class ArrayMemory {
 public:
  /// Adds the buffers with their contents, and the result's tensor.
  ArrayMemory(const Plan& plan, program::Program& program);

  [[nodiscard]] Place in_core(std::uint32_t row, std::uint32_t column, std::uint32_t at) const {
    return {cores_[plan_.array.core(row, column)], at};
  }
  [[nodiscard]] Place in_tile(std::uint32_t column, std::uint32_t at) const {
    return {tiles_[column], at};
  }
  /// The slice of a layer's tensor in a memory tile; its first block is the layer's first.
  [[nodiscard]] Area slice(std::uint32_t layer, std::uint32_t column) const;
  /// The columns from other memory tiles that a layer's window needs.
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
  BufferId tensors_{};  ///< tensors of intermediate layers, if DDR holds any
};

}  // namespace tessera::convnet
