#pragma once

#include <map>

#include "kernels/mlp/layer.h"
#include "kernels/spmm_static/product.h"

/// Where the weights of a pixelfly layer lie: at rest, and as its products take them.
namespace tessera::mlp {

/// Where a block is among those that are dealt.
class BlockNumbers {
 public:
  explicit BlockNumbers(const spmm_static::Deal& deal) {
    for (std::uint64_t e = 0; e < deal.blocks(); ++e)
      numbers_.emplace(std::pair{deal.row[e], deal.column[e]}, e);
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t row, std::uint64_t column) const {
    return numbers_.at({word(row), word(column)});
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> numbers_;
};

/// Weights at rest: blocks as their gradients are dealt, each row by row, in equal parts on all
/// tiles.
struct AtRest {
  explicit AtRest(const pixelfly::Sampled& gradient)
      : deal(gradient.partition.deal),
        block(gradient.partition.shape.block),
        element_bytes(gradient.partition.shape.bytes()),
        storage(gradient.results()),
        number(deal) {}

  /// The element's byte.
  [[nodiscard]] std::uint64_t byte(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t e = number(row / block, column / block);
    return ((e * block + row % block) * block + column % block) * element_bytes;
  }
  [[nodiscard]] program::Place place(std::uint64_t row, std::uint64_t column, bool applied) const {
    const std::uint64_t at = byte(row, column);
    const kernels::EvenStorage::Piece piece = storage.pieces(at, at + element_bytes).front();
    return stretches[piece.tile].parameter(piece.offset / element_bytes, applied);
  }
  /// Row i of block e as row number e * block + i.
  [[nodiscard]] training::Lines lines() const {
    return {[this](std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
      const std::uint64_t before = row * block * element_bytes;
      training::Lines::Pieces pieces;
      for (const auto& piece : storage.pieces(before + begin, before + end))
        pieces.push_back({{stretches[piece.tile].weights, piece.offset}, piece.at, piece.bytes});
      return pieces;
    }};
  }
  [[nodiscard]] std::vector<BufferId> gradients() const {
    std::vector<BufferId> buffers;
    for (const training::Stretch& each : stretches) buffers.push_back(each.gradient);
    return buffers;
  }
  [[nodiscard]] Assembly::Extent extent() const {
    return {word(deal.blocks() * block), block, block};
  }

  const spmm_static::Deal& deal;
  std::uint32_t block;
  std::uint64_t element_bytes;
  kernels::EvenStorage storage;
  BlockNumbers number;
  std::vector<training::Stretch> stretches;  ///< by tile
};

/// The values of a product's matrix as it takes them: blocks in the order of its deal, each [run of
/// outputs][input][output].
struct Values {
  Values(const spmm_static::Partition& of, const std::vector<BufferId>& by_tile)
      : partition(of), storage(of.value_storage()), buffers(by_tile), number(of.deal) {}

  [[nodiscard]] std::uint64_t run() const { return partition.shape.y_depth(); }
  /// Of as many outputs from `out` on for one input.
  [[nodiscard]] std::uint64_t byte(std::uint64_t out, std::uint64_t in) const {
    const std::uint64_t block = partition.shape.block;
    const std::uint64_t e = number(out / block, in / block);
    return (partition.deal.value_begin[e] + (out % block / run() * block + in % block) * run() +
            out % run()) *
           partition.shape.bytes();
  }

  const spmm_static::Partition& partition;
  kernels::EvenStorage storage;
  std::vector<BufferId> buffers;
  BlockNumbers number;
};

}  // namespace tessera::mlp
