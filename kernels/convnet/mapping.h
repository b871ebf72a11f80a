#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/convnet/geometry.h"
#include "kernels/convnet/reference.h"

/// How a network is cut: which rows of a layer a core works on at a time, which weights it holds
/// meanwhile, and where tensors lie.
namespace tessera::convnet {

/// In which order tiles of rows and of weights meet.
enum class Order : std::uint8_t {
  rows,     ///< all weights for each tile of rows
  weights,  ///< all rows for each tile of weights
  inputs    ///< for each tile of results both come part by part of the input blocks
};

/// How cores go through a layer.
struct Mapping {
  std::uint32_t rows = 1;   ///< output rows of a tile
  std::uint32_t group = 1;  ///< blocks of output channels whose weights a core holds at a time
  std::uint32_t parts = 1;  ///< that the kept input blocks of an output block come in
  Order order = Order::weights;
  std::uint32_t row_buffers = 2;     ///< tiles of rows that a core has room for, 1 or 2
  std::uint32_t weight_buffers = 2;  ///< the same of weights
  /// The addition of a convolution's results to another tensor is made while a core has them.
  bool adds = false;
  std::uint32_t pieces = 1;  ///< that a tile of weights comes in: one is sent, the next is brought

  bool operator==(const Mapping&) const = default;
};

/// Bytes of a core's data.
struct CoreBytes {
  std::uint32_t rows, weights;  ///< of a tile; there may be two
  std::uint32_t others;

  [[nodiscard]] std::uint32_t of(const Mapping& mapping) const {
    return mapping.row_buffers * rows + mapping.weight_buffers * weights + others;
  }
};

/// What a layer is to the array, whatever its mapping.
class LayerShape {
 public:
  /// `kept`: input blocks that an output block of a convolution keeps.
  LayerShape(const Layer& layer, const Array& array, std::uint32_t kept);

  [[nodiscard]] const Layer& layer() const { return *layer_; }
  [[nodiscard]] const Array& array() const { return array_; }
  [[nodiscard]] const ColumnGeometry& column(std::uint32_t number) const {
    return columns_[number];
  }
  [[nodiscard]] std::uint32_t taps() const {
    return layer_->op == Operator::add ? 2 : layer_->window.height * layer_->window.width;
  }
  [[nodiscard]] std::uint32_t kept() const { return kept_; }
  [[nodiscard]] std::uint32_t input_blocks() const { return input_blocks_; }
  [[nodiscard]] std::uint32_t output_blocks() const { return output_blocks_; }
  /// Every output block comes from all input blocks, or from its own alone.
  [[nodiscard]] bool is_convolution() const { return layer_->op == Operator::convolution; }
  /// All tiles of weights take the same steps: of a convolution that keeps all input blocks, and of
  /// other layers.
  [[nodiscard]] bool steps_alike() const { return !is_convolution() || kept_ == input_blocks_; }
  [[nodiscard]] bool has_weights() const { return layer_->op != Operator::max_pool; }
  /// The most blocks that a core computes.
  [[nodiscard]] std::uint32_t most_blocks() const {
    return part_of(output_blocks_, array_.rows, 0).size();
  }
  /// Output blocks that a row of cores computes at a time. Those of a convolution have their share
  /// in groups; of other layers the rows share the blocks of a group.
  [[nodiscard]] Range blocks(const Mapping& mapping, std::uint32_t row, std::uint32_t group) const;
  /// Input blocks that a tile of rows has for a group, in order `inputs` for a part.
  [[nodiscard]] Range needed_blocks(const Mapping& mapping, std::uint32_t group,
                                    std::uint32_t part) const;
  [[nodiscard]] bool has(const Mapping& mapping, std::uint32_t row, std::uint32_t group) const {
    return blocks(mapping, row, group).size() > 0;
  }
  /// A core that has nothing to do takes no part in the layer.
  [[nodiscard]] bool works(const Mapping& mapping, std::uint32_t row, std::uint32_t column) const {
    return has(mapping, row, 0) && columns_[column].outputs() > 0;
  }
  [[nodiscard]] std::uint32_t tensors() const { return layer_->op == Operator::add ? 2 : 1; }
  /// What a core holds of a tile of results, if it adds to them: pairs of what its convolution
  /// makes and the other operand, of which the next one comes meanwhile.
  static constexpr std::uint32_t kSumPairs = 2;
  /// Bytes of a block of input channels in a core, whose tiles of rows have room for full ones.
  [[nodiscard]] std::uint32_t plane_bytes(const Mapping& mapping, std::uint32_t column) const {
    return rows_needed(*layer_, mapping.rows) * columns_[column].row_bytes();
  }
  /// From an operand's rows in a core to the next one's, in every group.
  [[nodiscard]] std::uint32_t operand_bytes(const Mapping& mapping, std::uint32_t column) const {
    return needed_blocks(mapping, 0, 0).size() * plane_bytes(mapping, column);
  }

  // Bytes in a core, of the widest column.
  [[nodiscard]] std::uint32_t row_bytes(const Mapping& mapping) const;     ///< a tile of rows
  [[nodiscard]] std::uint32_t weight_bytes(const Mapping& mapping) const;  ///< a tile of weights
  /// Pieces of a tile of weights, all of one size but the last, and the bytes of one of them.
  [[nodiscard]] std::uint32_t pieces(const Mapping& mapping) const;
  [[nodiscard]] Range piece(const Mapping& mapping, std::uint32_t number) const;
  /// With what calls read behind it.
  [[nodiscard]] std::uint32_t weight_room(const Mapping& mapping) const;
  [[nodiscard]] std::uint32_t result_bytes(const Mapping& mapping) const;
  [[nodiscard]] std::uint32_t step_bytes(const Mapping& mapping) const;  ///< what `prepare` writes
  [[nodiscard]] std::uint32_t sum_step_bytes(const Mapping& mapping) const;  ///< of the addition
  [[nodiscard]] std::uint32_t partial_bytes(const Mapping& mapping) const;
  [[nodiscard]] CoreBytes core_parts(const Mapping& mapping) const;  ///< whatever the buffers
  [[nodiscard]] std::uint32_t core_bytes(const Mapping& mapping) const {
    return core_parts(mapping).of(mapping);
  }
  /// Products of 4 positions, 8 input and 8 output channels of the core that has most to do.
  [[nodiscard]] std::uint64_t products() const;
  // Bytes in a memory tile, of the widest column, on their way from and to DDR.
  [[nodiscard]] std::uint32_t staged_row_bytes(const Mapping& mapping) const;  ///< of an operand
  [[nodiscard]] std::uint32_t staged_result_bytes(const Mapping& mapping) const;

  [[nodiscard]] std::uint32_t row_tiles(const Mapping& mapping) const {
    return (layer_->output.height + mapping.rows - 1) / mapping.rows;
  }
  [[nodiscard]] std::uint32_t groups(const Mapping& mapping) const {
    return (most_blocks() + mapping.group - 1) / mapping.group;
  }

 private:
  const Layer* layer_;
  Array array_;
  std::uint32_t kept_, input_blocks_, output_blocks_;
  std::vector<ColumnGeometry> columns_;
};

/// One call of a core in the order of a mapping.
struct Item {
  std::uint32_t row_tile, group, part;
  bool new_rows, last_rows;        ///< it begins, ends the use of a tile of rows
  bool new_weights, last_weights;  ///< the same of weights
  bool ends;                       ///< its results are complete
};
std::vector<Item> items_of(const LayerShape& shape, const Mapping& mapping);

}  // namespace tessera::convnet
