#pragma once

#include <vector>

#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/spmm_static/reduction.h"
#include "sim/plan/description.h"

namespace tessera::spmm_static {

using plan::Tile;

/// What a tile multiplies; null: nothing.
struct Cell {
  const Part* part = nullptr;
  const Share* share = nullptr;
};
/// How workers divide a tile's single elements in passes of so many words.
struct ElementShares {
  std::uint32_t words;
  Divided divided;
};
/// By tile of the machine.
std::vector<Cell> cells_of(const Partition& partition);

/// Tiles that stand for all others: those that have most of something.
class Representatives {
 public:
  explicit Representatives(Tile tiles) : all_(tiles) {}

  /// The `count` tiles of which measure(tile) is most, and is something.
  void add(std::size_t count, const std::function<std::uint64_t(Tile)>& measure);
  [[nodiscard]] const std::vector<Tile>& tiles() const { return tiles_; }

 private:
  Tile all_;
  std::vector<Tile> tiles_{0};
};

/// A partition by tile: what the steps of a product ask for. Partition and W outlive it.
struct Work {
  /// Results that a tile wants of another one's sums.
  struct Sent {
    Tile from;
    std::uint64_t source, into, bytes;
  };

  Work(const Partition& of, const sparse::BlockMatrix& matrix);

  /// Bytes on a tile: X that it needs, its values of W, of partial rows, of those that it receives,
  /// of sums that it sends on.
  [[nodiscard]] std::uint64_t x_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t value_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t partial_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t received_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t sum_bytes(Tile tile) const;
  [[nodiscard]] kernels::Interval values(Tile tile) const;  ///< their numbers in the deal
  /// Calls visit(destination, bytes of partial rows before it, bytes of sums before it) for those
  /// on a tile.
  template <class Visit>
  void for_destinations(Tile tile, const Visit& visit) const {
    std::uint64_t received = 0;
    std::uint64_t sums = 0;
    for (const Destination* to : destinations[tile]) {
      visit(*to, received, sums);
      received += to->received;
      if (!to->home) sums += to->elements * partition.shape.bytes();
    }
  }
  [[nodiscard]] std::vector<ElementShares> element_shares(const Cell& cell,
                                                          std::uint32_t workers) const;
  /// The tiles that stand for all others: of each step those with most to do.
  [[nodiscard]] std::vector<Tile> representatives(std::uint32_t workers) const;

  const Partition& partition;
  const sparse::BlockMatrix& w;
  Reduction reduction;
  std::vector<Cell> cells;                                    ///< by tile
  std::vector<std::vector<const Destination*>> destinations;  ///< by tile
  std::vector<std::uint64_t> value_bounds;                    ///< bytes, ascending
  std::vector<std::vector<Sent>> sent;                        ///< by tile that wants them

 private:
  [[nodiscard]] std::uint64_t multiplying(const Cell& cell, std::uint32_t workers) const;
  [[nodiscard]] std::uint64_t taking(Tile tile) const;
  [[nodiscard]] std::uint64_t adding(Tile tile, std::uint32_t workers) const;
  void find_value_bounds();
  void find_sent();
};

}  // namespace tessera::spmm_static
