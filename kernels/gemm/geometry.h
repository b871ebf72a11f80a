#pragma once

#include <cstdint>

#include "kernels/gemm/plan.h"

namespace tessera::gemm {

/// Where a tile stands in the grid of parts.
struct Cell {
  std::uint32_t row;     ///< part of the rows
  std::uint32_t column;  ///< part of the columns
  std::uint32_t depth;   ///< part of the depth
};
constexpr Cell kFullest{0, 0, 0};  ///< even splits put the larger parts first

/// An operand as the matrix unit has it. Its lines are rows of X or blocks of columns of W.
enum class Side : std::uint8_t { x, w };
constexpr Side kSides[] = {Side::x, Side::w};

/// The arithmetic of a plan: who computes and receives what. All layouts are blocked:
/// X [depth block][row][input], W [column block][depth block][words of ldcw], Y [column
/// block][row][output].
class Geometry {
 public:
  Geometry(const Problem& problem, const Plan& plan);

  [[nodiscard]] const BlockShape& block() const { return block_; }
  [[nodiscard]] const Roles& roles() const { return roles_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] bool natural() const { return layout_ == Layout::natural; }
  /// Y is C transposed.
  [[nodiscard]] bool turned() const { return plan_.stationary == Stationary::a; }
  /// That operand is A, not B.
  [[nodiscard]] bool is_a(Side side) const { return (side == Side::w) == turned(); }
  [[nodiscard]] std::uint32_t row_parts() const { return row_split_.parts; }
  [[nodiscard]] std::uint32_t column_parts() const { return column_split_.parts; }
  /// Tiles that have one part of the depth, and all.
  [[nodiscard]] std::uint32_t layer() const { return row_parts() * column_parts(); }
  [[nodiscard]] std::uint32_t tiles() const { return layer() * plan_.split_k; }

  [[nodiscard]] Cell cell(std::uint32_t tile) const;
  [[nodiscard]] std::uint32_t tile(const Cell& cell) const;
  /// The first of those that compute these elements of Y.
  [[nodiscard]] Cell cell_of(std::uint64_t row, std::uint64_t column_block) const;

  [[nodiscard]] Interval rows(std::uint32_t part) const { return row_split_.part(part); }
  [[nodiscard]] Interval column_blocks(std::uint32_t part) const {
    return column_split_.part(part);
  }
  [[nodiscard]] Interval depth_blocks(std::uint32_t part) const { return depth_split_.part(part); }
  [[nodiscard]] std::uint64_t column_blocks() const { return column_split_.total; }
  [[nodiscard]] std::uint64_t depth_blocks() const { return depth_split_.total; }
  [[nodiscard]] Interval depth_blocks(std::uint32_t part, std::uint32_t cut) const;

  /// How the lines of an operand are divided, and the part of them that a tile takes.
  [[nodiscard]] const EvenSplit& lines(Side side) const {
    return side == Side::x ? row_split_ : column_split_;
  }
  [[nodiscard]] static std::uint32_t part(Side side, const Cell& cell) {
    return side == Side::x ? cell.row : cell.column;
  }
  /// Bytes of a line in a block of the depth.
  [[nodiscard]] std::uint64_t line_bytes(Side side) const {
    return side == Side::x ? block_.x_bytes() : block_.w_bytes();
  }
  /// Bytes that one superstep brings to a tile.
  [[nodiscard]] std::uint64_t bytes(Side side, const Cell& cell, std::uint32_t cut) const {
    return depth_blocks(cell.depth, cut).size() * lines(side).part(part(side, cell)).size() *
           line_bytes(side);
  }
  /// A whole operand, padding included.
  [[nodiscard]] std::uint64_t bytes(Side side) const {
    return depth_split_.total * lines(side).total * line_bytes(side);
  }
  [[nodiscard]] std::uint64_t y_bytes(const Cell& cell) const;
  /// The part of Y's bytes that this tile adds up when the depth is split.
  [[nodiscard]] Interval y_share(const Cell& cell) const;
  /// Where element `index` of a tile's part of Y lies in Y, and the way back; in layout natural
  /// parts are rows when they are added up.
  struct YPlace {
    std::uint64_t row, column;
  };
  [[nodiscard]] YPlace y_place(const Cell& cell, std::uint64_t index) const;
  [[nodiscard]] std::uint64_t y_index(const Cell& cell, const YPlace& place) const;
  /// The tile, by its part of the depth, that adds up that element.
  [[nodiscard]] std::uint64_t adder(const Cell& cell, std::uint64_t index) const;
  [[nodiscard]] std::uint64_t result_bytes(const Cell& cell) const {
    return y_share(cell).size() / block_.partial_bytes * block_.input_bytes;
  }
  /// The whole result, padding included.
  [[nodiscard]] std::uint64_t result_bytes() const {
    return row_split_.total * column_split_.total * block_.columns * block_.input_bytes;
  }
  /// Partials become results of another type at the end.
  [[nodiscard]] bool converts() const { return block_.input != block_.partial; }
  /// Tiles of a pair take the same part of X, not of W.
  [[nodiscard]] bool pairs_share_x() const { return plan_.pairs != plan_.stationary; }

 private:
  Plan plan_;
  Layout layout_;
  BlockShape block_;
  Roles roles_;
  EvenSplit row_split_;
  EvenSplit column_split_;
  EvenSplit depth_split_;
};

/// Bytes less than these are not worth a descriptor.
constexpr std::uint64_t kStorageGrain = 64;
/// Bytes of an operand of `bytes` bytes that each of `tiles` tiles holds before the run (the last
/// ones may hold less).
std::uint64_t stored_bytes(std::uint64_t bytes, std::uint32_t tiles);

}  // namespace tessera::gemm
