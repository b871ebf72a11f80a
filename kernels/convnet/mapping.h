#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "kernels/convnet/geometry.h"
#include "kernels/convnet/patches.h"
#include "kernels/convnet/reference.h"

/// Mapping of a network: the rows of a layer that a core works on at a time, the weights it holds
/// meanwhile, and the placement of tensors.
namespace tessera::convnet {

enum class Order : std::uint8_t {
  rows,     ///< all weights for each tile of rows
  weights,  ///< all rows for each tile of weights
  inputs    ///< for each tile of results both arrive part by part of the input blocks
};

/// Order in which cores process a layer.
struct Mapping {
  std::uint32_t rows = 1;   ///< output rows of a tile
  std::uint32_t group = 1;  ///< output blocks whose weights a core holds at a time
  std::uint32_t parts = 1;  ///< parts of an output block's kept input blocks
  Order order = Order::weights;
  std::uint32_t row_buffers = 2;     ///< buffers of a core for tiles of rows, 1 or 2
  std::uint32_t weight_buffers = 2;  ///< buffers of a core for tiles of weights, 1 or 2
  /// True: a residual addition is computed while a core holds the convolution's results.
  bool adds = false;
  std::uint32_t pieces = 1;     ///< pieces of a tile of weights: sent while the next loads
  std::uint32_t core_rows = 0;  ///< rows of cores that share the output blocks; 0: all
  bool zeros = false;           ///< pruned weight blocks are stored, moved and computed as zeros

  bool operator==(const Mapping&) const = default;
};

/// A mapping with the predicted times of its layer.
struct Priced {
  Mapping mapping;
  std::uint64_t cycles = 0;
  // Cycles of the busiest node or port for each part.
  std::uint64_t compute = 0, rows = 0, weights = 0, results = 0, load = 0, store = 0;
};

/// Use of DDR by a layer: it loads its rows, loads the operand added to its results, stores its
/// results.
struct Ddr {
  bool loads = false, adds = false, stores = false;
  auto operator<=>(const Ddr&) const = default;
};

/// A memory tile's contents other than tensors while a layer runs: in bytes (LayerShape::beside()),
/// or as addresses (Placement::beside).
struct StagedBytes {
  std::uint32_t halo = 0;  ///< columns of other memory tiles
  // Staging buffers from and to DDR, two slots each: rows, operands added to results, and results.
  std::uint32_t rows = 0, operands = 0, results = 0;
};

/// A core's memory in a layer, in bytes, contiguous: tiles of rows, of weights and of results,
/// lists of steps, and partial sums.
struct CoreLayout {
  std::uint32_t rows, weights, results;      ///< size of one buffer of each
  std::uint32_t steps, partials, sum_steps;  ///< lists of `prepare`; sums; lists of an addition
  std::uint32_t row_buffers, weight_buffers;
  bool adds;
  /// Pairs held by a core that adds to its results: its convolution's results and the other
  /// operand; the next operand arrives while one pair is added.
  static constexpr std::uint32_t kSumPairs = 2;

  // Address of tile `number`; buffers alternate.
  [[nodiscard]] std::uint32_t rows_at(std::size_t number) const {
    return turn(number, row_buffers) * rows;
  }
  [[nodiscard]] std::uint32_t weights_at(std::size_t number) const {
    return row_buffers * rows + turn(number, weight_buffers) * weights;
  }
  [[nodiscard]] std::uint32_t results_at(std::size_t number) const {
    return row_buffers * rows + weight_buffers * weights + turn(number, 2) * results;
  }
  [[nodiscard]] std::uint32_t steps_at() const { return results_at(0) + 2 * results; }
  [[nodiscard]] std::uint32_t partials_at() const { return steps_at() + steps; }
  [[nodiscard]] std::uint32_t sum_steps_at() const { return partials_at() + partials; }
  /// Address of the convolution's results `number`, if an addition follows; the other operand is
  /// `results` bytes further.
  [[nodiscard]] std::uint32_t convolved_at(std::size_t number) const {
    return sum_steps_at() + sum_steps + turn(number, kSumPairs) * 2 * results;
  }
  [[nodiscard]] std::uint32_t bytes() const {
    return convolved_at(0) + (adds ? 2 * kSumPairs * results : 0);
  }

 private:
  static std::uint32_t turn(std::size_t number, std::uint32_t buffers) {
    return static_cast<std::uint32_t>(number % buffers);
  }
};

/// A layer on the array, partitioned by its mapping.
class LayerShape {
 public:
  /// `unpruned`: number of weight blocks that an output block of a convolution keeps at each place
  /// of the window.
  LayerShape(const Layer& layer, const Array& array, const Split& split, std::uint32_t unpruned);

  Mapping mapping = {};
  Ddr ddr = {};

  [[nodiscard]] const Layer& layer() const { return *layer_; }
  [[nodiscard]] const VectorType& type() const { return type_of(*layer_); }
  [[nodiscard]] const Array& array() const { return array_; }
  [[nodiscard]] const Split& split() const { return split_; }
  [[nodiscard]] const ColumnGeometry& column(std::uint32_t number) const {
    return columns_[number];
  }
  [[nodiscard]] std::uint32_t taps() const {
    return layer_->op == Operator::add ? 2 : layer_->window.height * layer_->window.width;
  }
  /// Number of taps in a block's steps.
  [[nodiscard]] std::uint32_t step_taps() const {
    return layer_->op == Operator::max_pool ? round_up(taps(), 2U) : taps();
  }
  /// Stored weight blocks of an output block: those not pruned, or all.
  [[nodiscard]] std::uint32_t kept() const {
    return mapping.zeros && is_pruned() ? input_blocks_ / block_planes(type()) : unpruned_;
  }
  [[nodiscard]] std::uint32_t kept_of_part() const { return kept() / mapping.parts; }
  [[nodiscard]] std::uint32_t input_blocks() const { return input_blocks_; }
  [[nodiscard]] std::uint32_t output_blocks() const { return output_blocks_; }
  /// True if every output block depends on all input blocks, false if only on its own.
  [[nodiscard]] bool is_convolution() const { return layer_->op == Operator::convolution; }
  [[nodiscard]] bool is_pruned() const {
    return is_convolution() && unpruned_ * block_planes(type()) != input_blocks_;
  }
  /// True if all tiles of weights have the same steps: all input blocks, or no convolution.
  [[nodiscard]] bool steps_alike() const { return mapping.zeros || !is_pruned(); }
  [[nodiscard]] bool has_weights() const { return layer_->op != Operator::max_pool; }
  /// Number of rows of cores that take part.
  [[nodiscard]] std::uint32_t core_rows() const {
    return mapping.core_rows == 0 ? array_.rows : mapping.core_rows;
  }
  [[nodiscard]] std::uint32_t most_blocks() const { return share(0).size(); }
  /// Number of rows of cores that have output blocks: the first ones.
  [[nodiscard]] std::uint32_t working_rows() const {
    return ceil_div(output_blocks_, most_blocks());
  }
  /// Rounds of tile code for `blocks` output blocks, each with the blocks computed at a time.
  [[nodiscard]] std::uint32_t rounds(std::uint32_t blocks) const {
    return has_weights() ? blocks / block_planes(type()) : blocks;
  }
  /// Output blocks that a row of cores computes at a time. In convolutions each row processes its
  /// share in groups; in other layers the rows share the blocks of a group.
  [[nodiscard]] Range blocks(std::uint32_t row, std::uint32_t group) const;
  /// Input blocks of a tile of rows for a group; in order `inputs` for a part.
  [[nodiscard]] Range needed_blocks(std::uint32_t group, std::uint32_t part) const;
  [[nodiscard]] bool has(std::uint32_t row, std::uint32_t group) const {
    return blocks(row, group).size() > 0;
  }
  /// False for cores without work, which take no part in the layer.
  [[nodiscard]] bool works(std::uint32_t row, std::uint32_t column) const {
    return has(row, 0) && columns_[column].outputs() > 0;
  }
  [[nodiscard]] std::uint32_t tensors() const { return layer_->op == Operator::add ? 2 : 1; }
  /// Outputs of a core's call on `rows` rows; with `adds` of the addition to its results.
  [[nodiscard]] Grid grid(std::uint32_t column, std::uint32_t rows, bool adds = false) const;
  /// Bytes of a block of input channels in a core, whose row buffers hold full tiles.
  [[nodiscard]] std::uint32_t plane_bytes(std::uint32_t column) const {
    return rows_needed(*layer_, mapping.rows) * columns_[column].row_bytes();
  }
  /// Byte pitch of operands' rows in a core, in every group.
  [[nodiscard]] std::uint32_t operand_bytes(std::uint32_t column) const {
    return needed_blocks(0, 0).size() * plane_bytes(column);
  }

  // Bytes in a core of the widest column.
  [[nodiscard]] std::uint32_t row_bytes() const;     ///< a tile of rows
  [[nodiscard]] std::uint32_t weight_bytes() const;  ///< a tile of weights
  [[nodiscard]] std::uint32_t bias_at() const;       ///< offset of biases in a tile of weights
  [[nodiscard]] std::uint32_t numbers_at() const;    ///< offset of numbers of kept blocks
  /// Number of pieces of a tile of weights, all of equal size but the last, and the bytes of one.
  [[nodiscard]] std::uint32_t pieces() const;
  [[nodiscard]] Range piece(std::uint32_t number) const;
  [[nodiscard]] CoreLayout core_layout() const;
  /// Products of 4 positions and a weight block on the busiest core.
  [[nodiscard]] std::uint64_t products() const;
  // Bytes of staging buffers in a memory tile, of the widest column.
  [[nodiscard]] std::uint32_t staged_row_bytes() const;  ///< rows of one operand
  [[nodiscard]] std::uint32_t staged_result_bytes() const;
  [[nodiscard]] StagedBytes beside() const;

  [[nodiscard]] std::uint32_t row_tiles() const {
    return ceil_div(layer_->output.height, mapping.rows);
  }
  [[nodiscard]] std::uint32_t groups() const { return ceil_div(most_blocks(), mapping.group); }
  [[nodiscard]] RowTile tile(std::uint32_t number) const {
    const std::uint32_t begin = number * mapping.rows;
    return row_tile(*layer_, {begin, std::min(begin + mapping.rows, layer_->output.height)});
  }

 private:
  [[nodiscard]] std::uint32_t partial_bytes() const;
  /// A row's share of the output blocks.
  [[nodiscard]] Range share(std::uint32_t row) const;

  const Layer* layer_;
  Array array_;
  Split split_;
  std::uint32_t unpruned_, input_blocks_, output_blocks_;
  std::vector<ColumnGeometry> columns_;
};

/// Columns of a layer's input that a memory tile receives from another: `part`, in columns of the
/// tensor, goes to column `at` of its halo.
struct HaloPart {
  std::uint32_t column, owner;
  Range part;
  std::uint32_t at;
};
/// Parts ordered by the distance between the two memory tiles: parts of one distance move
/// concurrently, since each memory tile sends one and receives one.
std::vector<HaloPart> halo_of(const LayerShape& shape);

/// One unit of work of a core, in the order of a mapping.
struct Item {
  std::uint32_t row_tile, group, part;
  bool new_rows, last_rows;        ///< begins, ends the use of a tile of rows
  bool new_weights, last_weights;  ///< begins, ends the use of a tile of weights
  bool ends;                       ///< completes its results
};
std::vector<Item> items_of(const LayerShape& shape);
/// Number of a layer's items that begin with new rows, new weights, and end with results.
struct ItemCounts {
  std::uint64_t new_rows, new_weights, ends;
  bool operator==(const ItemCounts&) const = default;
};
ItemCounts counts_of(const LayerShape& shape);

}  // namespace tessera::convnet
