#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "kernels/arrays/array.h"
#include "kernels/arrays/array_program.h"
#include "kernels/convnet/network.h"
#include "kernels/convnet/patches.h"
#include "kernels/gemm/core_product.h"
#include "sim/base/types.h"

/// How layers lie on an array: a tensor's columns are split over memory tiles, its planes of
/// channels over the cores of a column. A slice is [plane][row][column][8] bytes.
namespace tessera::convnet {

using arrays::Array;
using arrays::ArrayProgram;
using arrays::buffer_of;
using arrays::kActivations;
using arrays::kAlign;
using arrays::kHalo;
using arrays::kLoad;
using arrays::kLoadWeights;
using arrays::kResults;
using arrays::kStore;
using arrays::kWeights;
using arrays::TransferId;
using program::Stream;
using program::Vertex;

/// Columns [begin, end) of a tensor, or blocks of channels.
struct Range {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] std::uint32_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};
/// Part `number` of `all`, split into `parts` of which the first are as large as any.
inline Range part_of(std::uint32_t all, std::uint32_t parts, std::uint32_t number) {
  const std::uint32_t each = ceil_div(all, parts);
  return {std::min(all, number * each), std::min(all, (number + 1) * each)};
}

/// Kinds of transfers of a network, each with a number for its column or row of the array.
enum class TransferChain : std::uint8_t {
  load,
  store,
  halo,
  rows,
  operands,
  results,
  weights,
  ddr_weights,
  ddr_rows,
  ddr_operands,
  ddr_results
};
constexpr std::uint32_t kind_of(TransferChain chain, std::uint32_t number) {
  return static_cast<std::uint32_t>(chain) << 16U | number;
}

/// The array of a machine. Throws KeyError for one that lacks nodes or streams.
Array array_of(const MachineConfig& machine);

using gemm::VectorType;

/// The vector unit's operand shapes for a layer's type: a step's weights are a block of `inputs` x
/// `outputs` channels. A plane has `outputs` channels, in positions of kPositionBytes.
inline const VectorType& type_of(const Layer& layer) { return *gemm::vector_type(layer.type); }
/// Planes of so many channels.
inline std::uint32_t planes_of(std::uint32_t channels, const VectorType& type) {
  return padded_channels(channels) / type.outputs;
}
/// Planes that a block of weights takes, and tile code computes at a time.
constexpr std::uint32_t block_planes(const VectorType& type) { return type.inputs / type.outputs; }

/// An activation tensor in memory tiles: at `address` of each its slice.
struct Held {
  std::uint32_t height = 0, width = 0, blocks = 0;
  std::uint32_t columns = 1;  ///< array columns that it is split over
  std::uint32_t column_multiple = 1;
  std::uint32_t address = 0;
  /// It lies whole in DDR instead, [plane][row][column][8] from this byte of its buffer on.
  bool outside = false;
  std::uint32_t ddr = 0;

  [[nodiscard]] Range slice(std::uint32_t column) const { return part_of(width, columns, column); }
  /// Columns that a row of a slice takes.
  [[nodiscard]] std::uint32_t pitch(std::uint32_t column) const {
    return round_up(slice(column).size(), column_multiple);
  }
  [[nodiscard]] std::uint32_t row_bytes(std::uint32_t column) const {
    return pitch(column) * kPositionBytes;
  }
  [[nodiscard]] std::uint32_t block_bytes(std::uint32_t column) const {
    return height * row_bytes(column);
  }
  /// Bytes of the largest slice.
  [[nodiscard]] std::uint32_t bytes() const { return blocks * block_bytes(0); }
  [[nodiscard]] std::uint32_t all_bytes() const { return blocks * height * width * kPositionBytes; }
};

/// Input columns [begin, begin + count) of a column's window, as seen from its first: zeros, the
/// memory tile's own, or those of another one.
struct Piece {
  enum class From : std::uint8_t { zeros, own, halo };
  From from;
  std::uint32_t begin, count;
  std::uint32_t source_column;  ///< column of the tensor; unused for zeros
};

/// How many columns of the array, from the first on, a layer's tensors are split over.
struct Split {
  std::uint32_t input, output;
  auto operator<=>(const Split&) const = default;
};

/// A layer with a window on one column of the array: the outputs that the column computes, and the
/// inputs that it needs.
class ColumnGeometry {
 public:
  ColumnGeometry(const Layer& layer, const Split& split, std::uint32_t column_multiple,
                 std::uint32_t column);

  [[nodiscard]] std::uint32_t outputs() const { return outputs_.size(); }  ///< columns
  /// Columns that cores compute: two at least, of which the second may be nothing.
  [[nodiscard]] std::uint32_t computed() const { return outputs() == 1 ? 2 : outputs(); }
  /// Columns that a row of results takes, and those of them that are sent.
  [[nodiscard]] std::uint32_t result_pitch() const { return std::max(computed(), sent()); }
  [[nodiscard]] std::uint32_t sent() const { return round_up(outputs(), multiple_); }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  /// The window's columns that exist, wherever they lie; a piece of 0 columns if none does.
  [[nodiscard]] Piece inside() const;
  /// Columns of the tensor that other memory tiles hold, in the order of pieces().
  [[nodiscard]] std::uint32_t halo_columns() const;

  // In a core the window's columns are parted by their remainder by the stride, so that positions
  // of an output row lie side by side for every tap: [row][remainder][column][8]. Remainders that
  // no tap reads are left out.
  [[nodiscard]] std::uint32_t stride() const { return stride_; }
  [[nodiscard]] std::uint32_t remainder_bytes() const { return pitch_ * kPositionBytes; }
  [[nodiscard]] std::uint32_t row_bytes() const { return remainders_ * remainder_bytes(); }
  /// True if a tap reads a column of the window.
  [[nodiscard]] bool is_read(std::uint32_t column) const { return column % stride_ < remainders_; }
  /// Where a column of the window lies in its row.
  [[nodiscard]] std::uint32_t place(std::uint32_t column) const {
    return column % stride_ * remainder_bytes() + column / stride_ * kPositionBytes;
  }

 private:
  Range outputs_;
  std::uint32_t multiple_, stride_, remainders_, pitch_;
  std::vector<Piece> pieces_;
};

/// Output rows [first, first + count) of a layer, and the input rows that they need.
struct RowTile {
  std::uint32_t first, count;
  std::uint32_t input_first, input_count;   ///< that exist
  std::uint32_t input_step;                 ///< from one to the next
  std::uint32_t zeros_before, zeros_after;  ///< rows of padding around them
  [[nodiscard]] std::uint32_t input_rows() const {
    return zeros_before + input_count + zeros_after;
  }
};
RowTile row_tile(const Layer& layer, Range rows);
/// Rows that lie in a core from one output row's input to the next one's: a window of one row reads
/// no others.
inline std::uint32_t row_stride(const Layer& layer) {
  return layer.window.height == 1 ? 1 : layer.window.stride_height;
}
/// Input rows of a tile of so many output rows.
inline std::uint32_t rows_needed(const Layer& layer, std::uint32_t rows) {
  return (rows - 1) * row_stride(layer) + layer.window.height;
}

}  // namespace tessera::convnet
