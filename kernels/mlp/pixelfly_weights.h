#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/mlp/layer.h"
#include "kernels/spmm_static/product.h"

/// Layouts of the weights of a pixelfly layer: at rest, and as its products read them.
namespace tessera::mlp {

/// Layout of weights at rest: blocks in the distribution and order of their gradients, in equal
/// parts on all tiles.
struct StoredLayout {
  explicit StoredLayout(const pixelfly::Sampled& gradient)
      : of(gradient),
        block(gradient.partition.shape.block),
        element_bytes(gradient.partition.shape.bytes()),
        storage(gradient.results()) {
    for (std::uint64_t e = 0; e < blocks(); ++e)
      numbers_.emplace(std::pair{of.row(e), of.column(e)}, e);
  }

  [[nodiscard]] bool holds(std::uint64_t row, std::uint64_t column) const {
    return numbers_.contains(at(row, column));
  }
  [[nodiscard]] std::uint64_t blocks() const { return of.blocks.size(); }
  /// The element's number in the storage.
  [[nodiscard]] std::uint64_t element(std::uint64_t row, std::uint64_t column) const {
    return number(row, column) * of.area() + of.number(row % block, column % block);
  }
  /// The number of the element's block.
  [[nodiscard]] std::uint64_t number(std::uint64_t row, std::uint64_t column) const {
    return numbers_.at(at(row, column));
  }
  [[nodiscard]] std::uint64_t elements_on(Tile tile) const {
    return storage.bytes_on(tile) / element_bytes;
  }

  const pixelfly::Sampled& of;
  std::uint32_t block;
  std::uint64_t element_bytes;
  EvenStorage storage;

 private:
  using Block = std::pair<std::uint32_t, std::uint32_t>;  ///< block row and column
  [[nodiscard]] Block at(std::uint64_t row, std::uint64_t column) const {
    return {word(row / block), word(column / block)};
  }
  std::map<Block, std::uint64_t> numbers_;
};

/// The values of a product's matrix in an array: blocks in the product's distribution order, each
/// [run of outputs][input][output].
struct Values {
  Values(const spmm_static::Partition& of, BufferId in)
      : partition(of), storage(of.value_storage()), array(in) {}

  [[nodiscard]] std::uint64_t run() const { return partition.shape.y_depth(); }
  /// Calls take(output, input, number, count) for the elements on a tile, in pieces of `count`
  /// outputs of one input, the first being element `number` of the tile; `count` is at most `most`,
  /// which divides the outputs of a run.
  template <class Take>
  void for_runs(Tile tile, std::uint64_t most, const Take& take) const {
    const std::uint64_t side = partition.shape.block;
    const std::vector<std::uint64_t>& begins = partition.deal.value_begin;
    const std::uint64_t first = storage.begin(tile) / partition.shape.bytes();
    const std::uint64_t end = first + storage.bytes_on(tile) / partition.shape.bytes();
    for (std::uint64_t at = first, next = 0; at < end; at = next) {
      const auto e =
          static_cast<std::size_t>(std::ranges::upper_bound(begins, at) - begins.begin() - 1);
      const std::uint64_t in_block = at - begins[e];
      next = std::min(end, at + most - in_block % most);
      take(partition.deal.row[e] * side + in_block / (side * run()) * run() + in_block % run(),
           partition.deal.column[e] * side + in_block % (side * run()) / run(), at - first,
           next - at);
    }
  }

  const spmm_static::Partition& partition;
  EvenStorage storage;
  BufferId array;
};

/// Weights at rest that a product reads: columns [first, end). If the product's outputs are rows,
/// column `first` is its input `input`; else it is its output 0.
struct StoredOperand {
  std::shared_ptr<const StoredLayout> from;
  BufferId array;
  std::shared_ptr<const Values> to;
  bool rows;  ///< the product's outputs are rows at rest, its inputs columns; else the reverse
  std::uint64_t first, end;
  std::uint64_t input = 0;

  /// True if the outputs of an input are contiguous at rest, as the product reads them.
  [[nodiscard]] bool lies() const { return rows == from->of.down(); }
};

/// Pulls values that are stored in the order in which the product reads them.
void pull_copies(const StoredOperand& taking, Tile tile, Pulls& pulls);

/// States steps that transpose values stored in the other order. All `operands` are of the same
/// weights.
void add_turned(training::Statement& statement, const std::vector<StoredOperand>& operands);

/// Gamma of a pixelfly layer, W = gamma S + (1 - gamma) U V^T with b not scaled, fixed or learned.
/// In every turn the tiles that hold S and U scale them into copies, which products read, and scale
/// gradients with respect to these copies to those of S and U. A learned gamma is an f32 parameter
/// on tile 0: each turn sends it to those tiles, and its gradient is summed over them.
class PixelflyGamma {
 public:
  /// `w`: S, b in the block column after the inputs, U from column `first_of_u` on.
  PixelflyGamma(training::Statement& statement, const LayerContext& context,
                std::shared_ptr<const StoredLayout> w, std::uint64_t first_of_u);

  /// States the steps that make scaled copies of `weights`, in the same layout.
  BufferId multiply(BufferId weights);
  /// States the steps from the gradients of the copies to those of S, U and gamma.
  void add_gradients(const Parameters& w);
  /// Gamma, if it is learned.
  [[nodiscard]] const std::optional<Parameters>& parameter() const { return parameter_; }

 private:
  void add_up(BufferId sums);

  training::Statement& statement_;
  std::shared_ptr<const StoredLayout> w_;
  std::optional<Parameters> parameter_;
  BufferId gamma_{};                          ///< on each tile, if it is learned
  pixelfly::Scaling::Runs runs_;              ///< factors of elements at rest
  double fixed_ = 0;                          ///< gamma, if it is not learned
  std::optional<pixelfly::Scaling> scaling_;  ///< made when it is first called
};

}  // namespace tessera::mlp
