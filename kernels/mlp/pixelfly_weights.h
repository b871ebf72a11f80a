#pragma once

#include <map>
#include <vector>

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
  explicit BlockNumbers(const pixelfly::Sampled& gradient) {
    for (std::uint64_t e = 0; e < gradient.blocks.size(); ++e)
      numbers_.emplace(std::pair{gradient.row(e), gradient.column(e)}, e);
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t row, std::uint64_t column) const {
    return numbers_.at({word(row), word(column)});
  }
  [[nodiscard]] bool contains(std::uint64_t row, std::uint64_t column) const {
    return numbers_.count({word(row), word(column)}) != 0;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> numbers_;
};

/// Weights at rest: blocks as their gradients are dealt and lie, in equal parts on all tiles.
struct AtRest {
  explicit AtRest(const pixelfly::Sampled& gradient)
      : of(gradient),
        block(gradient.partition.shape.block),
        element_bytes(gradient.partition.shape.bytes()),
        storage(gradient.results()),
        number(gradient) {}

  [[nodiscard]] bool holds(std::uint64_t row, std::uint64_t column) const {
    return number.contains(row / block, column / block);
  }
  [[nodiscard]] std::uint64_t blocks() const { return of.blocks.size(); }
  /// The element's byte.
  [[nodiscard]] std::uint64_t byte(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t e = number(row / block, column / block);
    return (e * of.area() + of.number(row % block, column % block)) * element_bytes;
  }
  using Masters = std::vector<std::vector<program::Place>>;  ///< by tile and parameter
  [[nodiscard]] Masters masters(const training::Replicas& replicas) const {
    Masters places;
    for (const training::Stretch& each : stretches) places.push_back(replicas.master_places(each));
    return places;
  }
  [[nodiscard]] program::Place place(std::uint64_t row, std::uint64_t column,
                                     const Masters& masters) const {
    const std::uint64_t at = byte(row, column);
    const kernels::EvenStorage::Piece piece = storage.pieces(at, at + element_bytes).front();
    return masters[piece.tile][piece.offset / element_bytes];
  }
  [[nodiscard]] std::vector<BufferId> gradients() const {
    std::vector<BufferId> buffers;
    for (const training::Stretch& each : stretches) buffers.push_back(each.gradient);
    return buffers;
  }

  const pixelfly::Sampled& of;
  std::uint32_t block;
  std::uint64_t element_bytes;
  kernels::EvenStorage storage;
  BlockNumbers number;
  std::vector<training::Stretch> stretches;  ///< by tile
  std::vector<BufferId> copies = {};         ///< by tile, if products take these for the weights

  /// What products take on a tile.
  [[nodiscard]] BufferId taken(std::uint32_t tile) const {
    return copies.empty() ? stretches[tile].weights : copies[tile];
  }
};

/// The values of a product's matrix as it takes them: blocks in the order of its deal, each [run of
/// outputs][input][output].
struct Values {
  Values(const spmm_static::Partition& of, const std::vector<BufferId>& by_tile)
      : partition(of), storage(of.value_storage()), buffers(by_tile), number(of.deal) {}

  [[nodiscard]] std::uint64_t run() const { return partition.shape.y_depth(); }
  [[nodiscard]] bool holds(std::uint64_t out, std::uint64_t in) const {
    return number.contains(out / partition.shape.block, in / partition.shape.block);
  }
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

/// Weights at rest that a product takes: columns [first, end), whose numbers begin at `input` of
/// its inputs where its outputs are rows, at 0 of its outputs otherwise.
struct Taking {
  const AtRest& from;
  const Values& to;
  bool rows;  ///< its outputs are rows at rest, its inputs columns; or the other way round
  std::uint64_t first, end;
  std::uint64_t input = 0;

  /// Whether the outputs of an input lie side by side at rest, as the product takes them.
  [[nodiscard]] bool lies() const { return rows == from.of.down(); }
};

/// Copies of what lies as the product takes it.
void add_copies(program::Exchange& exchange, const Taking& taking);

/// Turns what does not, in steps of its own: from lines at rest to the outputs of an input. All are
/// of the same weights.
void add_turned(Assembly& assembly, const std::vector<Taking>& takings);

}  // namespace tessera::mlp
