#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/convnet/array_memory.h"
#include "kernels/convnet/core_calls.h"
#include "kernels/convnet/weight_supply.h"

/// Which bytes move in a layer.
namespace tessera::convnet {

/// What a core holds in a layer: where its buffers lie.
class CoreLayout {
 public:
  CoreLayout(const LayerShape& shape, const Mapping& mapping);

  /// Of the tile of rows, of weights or of results of that number; buffers take turns.
  [[nodiscard]] std::uint32_t rows(std::size_t number) const {
    return turn(number, mapping_.row_buffers) * rows_;
  }
  [[nodiscard]] std::uint32_t weights(std::size_t number) const {
    return weights_at_ + turn(number, mapping_.weight_buffers) * weights_;
  }
  [[nodiscard]] std::uint32_t results(std::size_t number) const {
    return results_at_ + turn(number, 2) * results_;
  }
  /// Where the convolution puts its results of that number, if a sum follows; the other operand's
  /// lie sum_distance() behind.
  [[nodiscard]] std::uint32_t convolved(std::size_t number) const {
    return sums_at_ + turn(number, LayerShape::kSumPairs) * 2 * results_;
  }
  [[nodiscard]] std::uint32_t sum_distance() const { return results_; }
  [[nodiscard]] std::uint32_t sum_steps() const { return sum_steps_at_; }
  [[nodiscard]] std::uint32_t steps() const { return steps_at_; }
  [[nodiscard]] std::uint32_t partials() const { return partials_at_; }

 private:
  static std::uint32_t turn(std::size_t number, std::uint32_t buffers) {
    return static_cast<std::uint32_t>(number % buffers);
  }
  const Mapping& mapping_;
  std::uint32_t rows_, weights_, results_;  ///< bytes of one
  std::uint32_t weights_at_, results_at_, steps_at_, partials_at_, sum_steps_at_, sums_at_;
};

/// The transfers of a layer. Made once, in the order of its items.
class LayerStreams {
 public:
  using Transfers = std::vector<TransferId>;
  using ItemTransfers = std::vector<std::optional<TransferId>>;  ///< by item that ends results

  /// All are kept by reference.
  LayerStreams(const Plan& plan, std::uint32_t layer, const LayerShape& shape,
               const std::vector<Item>& items, const ArrayMemory& memory,
               const WeightSupply& supply, ArrayProgram& lists);

  /// Tiles of rows from the memory tile to its column of cores.
  [[nodiscard]] const Transfers& rows(std::uint32_t column) const { return rows_[column]; }
  /// The same from DDR to the memory tile; empty unless an operand lies there.
  [[nodiscard]] const Transfers& ddr_rows(std::uint32_t column) const { return ddr_rows_[column]; }
  /// What a column's cores add to their results, by their item: each core takes its own blocks.
  [[nodiscard]] const ItemTransfers& operands(std::uint32_t column) const {
    return operands_[column];
  }
  /// The same from DDR to the memory tile; none unless the operand lies there.
  [[nodiscard]] const ItemTransfers& ddr_operands(std::uint32_t column) const {
    return ddr_operands_[column];
  }
  /// Tiles of weights from their memory tile to a row of cores.
  [[nodiscard]] const Transfers& weights(std::uint32_t row) const { return weights_[row]; }
  /// Results of a column's cores to its memory tile, which takes one core's after the other's.
  [[nodiscard]] const ItemTransfers& results(std::uint32_t column) const {
    return results_[column];
  }
  /// From there to DDR; none unless the layer's tensor lies there.
  [[nodiscard]] const ItemTransfers& ddr_results(std::uint32_t column) const {
    return ddr_results_[column];
  }
  [[nodiscard]] const CoreLayout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t layer() const { return layer_; }
  /// The addition that is made with the layer.
  [[nodiscard]] const std::optional<Sum>& sum() const { return sum_; }

 private:
  /// Columns of a window as they lie in a memory tile; of no columns there: zeros.
  struct Source {
    Area area;
    Range blocks, rows;  ///< the first row, and as many as there are
    std::uint32_t step;  ///< from row to row
    Range columns;
    std::uint32_t begin;  ///< column of the window
    std::uint32_t zeros;  ///< columns
  };

  void make_rows(std::uint32_t column);
  [[nodiscard]] std::vector<Source> sources(std::uint32_t column, std::uint32_t operand,
                                            const RowTile& tile, Range needed,
                                            std::size_t number) const;
  void add_staged(std::uint32_t column, std::uint32_t operand, const RowTile& tile, Range needed,
                  std::size_t number, std::vector<Stream>& streams) const;
  void add_rows(std::uint32_t column, const RowTile& tile, const Source& source, std::uint32_t at,
                std::vector<Stream>& streams) const;
  [[nodiscard]] Area staged_rows(std::uint32_t column, std::uint32_t operand, const RowTile& tile,
                                 std::size_t number) const;
  void make_operands(std::uint32_t column);
  void make_results(std::uint32_t column);
  [[nodiscard]] Area in_core(std::uint32_t row, std::uint32_t column, std::uint32_t at) const;
  [[nodiscard]] Area staged(std::uint32_t column, std::uint32_t slots, const RowTile& tile,
                            std::uint32_t row, std::size_t number) const;
  void add_results(std::uint32_t column, const RowTile& tile, std::uint32_t row, Range blocks,
                   std::size_t made, std::size_t number, std::vector<Stream>& streams,
                   std::vector<Stream>& stores) const;
  void make_weights(std::uint32_t row);
  void add_piece(std::uint32_t row, std::uint32_t tile, Range piece);

  const Plan& plan_;
  std::uint32_t layer_;
  const LayerShape& shape_;
  const Mapping& mapping_;
  const std::vector<Item>& items_;
  const ArrayMemory& memory_;
  const WeightSupply& supply_;
  ArrayProgram& lists_;
  CoreLayout layout_;
  std::optional<Sum> sum_;
  std::vector<Transfers> rows_, ddr_rows_, weights_;
  std::vector<ItemTransfers> operands_, ddr_operands_, results_, ddr_results_;
};

}  // namespace tessera::convnet
