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

/// Layout of layers on an array: a tensor's columns are split over memory tiles, its planes of
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

/// A range of columns of a tensor, or of blocks of channels.
struct Range {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] std::uint32_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};
/// Part `number` of `all` in `parts` parts, the larger ones first.
inline Range part_of(std::uint32_t all, std::uint32_t parts, std::uint32_t number) {
  const std::uint32_t each = ceil_div(all, parts);
  return {std::min(all, number * each), std::min(all, (number + 1) * each)};
}

/// Kinds of transfers of a network, each indexed by column or row of the array.
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

/// The array of a machine. Throws KeyError if the machine lacks nodes or streams.
Array array_of(const MachineConfig& machine);

using gemm::VectorType;

/// Operand shapes of the vector unit for a layer's type: a step's weights are a block of `inputs` x
/// `outputs` channels. A plane has `outputs` channels, at positions of kPositionBytes.
inline const VectorType& type_of(const Layer& layer) { return *gemm::vector_type(layer.type); }
/// Number of planes of `channels` channels.
inline std::uint32_t planes_of(std::uint32_t channels, const VectorType& type) {
  return padded_channels(channels) / type.outputs;
}
/// Planes of a block of weights, computed at a time by tile code.
constexpr std::uint32_t block_planes(const VectorType& type) { return type.inputs / type.outputs; }

/// An activation tensor in memory tiles: each holds its slice at `address`.
struct Held {
  std::uint32_t height = 0, width = 0, blocks = 0;
  std::uint32_t columns = 1;  ///< array columns that share it
  std::uint32_t column_multiple = 1;
  std::uint32_t address = 0;
  /// True: it is stored whole in DDR, [plane][row][column][8] from byte `ddr` of its buffer on.
  bool outside = false;
  std::uint32_t ddr = 0;

  [[nodiscard]] Range slice(std::uint32_t column) const { return part_of(width, columns, column); }
  /// Columns of a slice's row, with padding.
  [[nodiscard]] std::uint32_t pitch(std::uint32_t column) const {
    return round_up(slice(column).size(), column_multiple);
  }
  [[nodiscard]] std::uint32_t row_bytes(std::uint32_t column) const {
    return pitch(column) * kPositionBytes;
  }
  [[nodiscard]] std::uint32_t block_bytes(std::uint32_t column) const {
    return height * row_bytes(column);
  }
  /// Bytes of the largest slice; of the whole tensor.
  [[nodiscard]] std::uint32_t bytes() const { return blocks * block_bytes(0); }
  [[nodiscard]] std::uint32_t all_bytes() const { return blocks * height * width * kPositionBytes; }
};

/// Input columns [begin, begin + count) of a column's window, counted from its first: zeros,
/// columns of the local memory tile, or of another one.
struct Piece {
  enum class From : std::uint8_t { zeros, own, halo };
  From from;
  std::uint32_t begin, count;
  std::uint32_t source_column;  ///< column of the tensor; unused for zeros
};

/// Number of array columns, from the first on, that share a layer's tensors.
struct Split {
  std::uint32_t input, output;
  auto operator<=>(const Split&) const = default;
};

/// A windowed layer on one column of the array: the outputs that the column computes, and its
/// inputs.
class ColumnGeometry {
 public:
  ColumnGeometry(const Layer& layer, const Split& split, std::uint32_t column_multiple,
                 std::uint32_t column);

  [[nodiscard]] std::uint32_t outputs() const { return outputs_.size(); }  ///< columns
  /// Columns that cores compute: at least two, of which the second may be unused.
  [[nodiscard]] std::uint32_t computed() const { return outputs() == 1 ? 2 : outputs(); }
  /// Columns of a row of results, with padding, and those sent.
  [[nodiscard]] std::uint32_t result_pitch() const { return std::max(computed(), sent()); }
  [[nodiscard]] std::uint32_t sent() const { return round_up(outputs(), multiple_); }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  /// The window's columns inside the tensor, on any memory tile; a piece of 0 columns if there are
  /// none.
  [[nodiscard]] Piece inside() const;
  /// Number of the tensor's columns on other memory tiles, in the order of pieces().
  [[nodiscard]] std::uint32_t halo_columns() const;

  // In a core the window's columns are grouped by their remainder modulo the stride, so that
  // positions of an output row are contiguous for every tap: [row][remainder][column][8].
  // Remainders that no tap reads are left out.
  [[nodiscard]] std::uint32_t stride() const { return stride_; }
  [[nodiscard]] std::uint32_t remainder_bytes() const { return pitch_ * kPositionBytes; }
  [[nodiscard]] std::uint32_t row_bytes() const { return remainders_ * remainder_bytes(); }
  /// True if a tap reads a column of the window.
  [[nodiscard]] bool is_read(std::uint32_t column) const { return column % stride_ < remainders_; }
  /// Offset of a column of the window in its row.
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
  std::uint32_t input_first, input_count;   ///< inside the tensor
  std::uint32_t input_step;                 ///< step between rows
  std::uint32_t zeros_before, zeros_after;  ///< rows of padding before and after
  [[nodiscard]] std::uint32_t input_rows() const {
    return zeros_before + input_count + zeros_after;
  }
};
RowTile row_tile(const Layer& layer, Range rows);
/// Rows in a core between the inputs of consecutive output rows: windows of one row skip the
/// others.
inline std::uint32_t row_stride(const Layer& layer) {
  return layer.window.height == 1 ? 1 : layer.window.stride_height;
}
/// Number of input rows for `rows` output rows.
inline std::uint32_t rows_needed(const Layer& layer, std::uint32_t rows) {
  return (rows - 1) * row_stride(layer) + layer.window.height;
}

}  // namespace tessera::convnet
