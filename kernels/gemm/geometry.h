#pragma once

#include <cstdint>

#include "kernels/gemm/plan.h"

namespace tessera::gemm {

/// Position of a tile in the grid of parts.
struct Cell {
  std::uint32_t row;     ///< part of the rows
  std::uint32_t column;  ///< part of the columns
  std::uint32_t depth;   ///< part of the depth
};
constexpr Cell kFullest{0, 0, 0};  ///< even splits put the larger parts first

/// An operand of the matrix unit. Its lines are rows of X or blocks of columns of W.
enum class Side : std::uint8_t { x, w };
constexpr Side kSides[] = {Side::x, Side::w};

/// Geometry of a plan: the parts that tiles compute and receive. All layouts are blocked: X [depth
/// block][row][input], W [column block][depth block][words of ldcw], Y [column block][row][output].
class Geometry {
 public:
  Geometry(const Problem& problem, const Plan& plan);

  [[nodiscard]] const BlockShape& block() const { return block_; }
  [[nodiscard]] const Roles& roles() const { return roles_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] bool natural() const { return layout_ == Layout::natural; }
  /// True if Y is C transposed.
  [[nodiscard]] bool turned() const { return plan_.stationary == Stationary::a; }
  /// True if that operand is A, false if B.
  [[nodiscard]] bool is_a(Side side) const { return (side == Side::w) == turned(); }
  [[nodiscard]] std::uint32_t row_parts() const { return row_split_.parts; }
  [[nodiscard]] std::uint32_t column_parts() const { return column_split_.parts; }
  /// Number of tiles of one part of the depth, and of all.
  [[nodiscard]] std::uint32_t layer() const { return row_parts() * column_parts(); }
  [[nodiscard]] std::uint32_t tiles() const { return layer() * plan_.split_k; }

  [[nodiscard]] Cell cell(std::uint32_t tile) const;
  [[nodiscard]] std::uint32_t tile(const Cell& cell) const;
  /// The first tile that computes these elements of Y.
  [[nodiscard]] Cell cell_of(std::uint64_t row, std::uint64_t column_block) const;

  [[nodiscard]] Interval rows(std::uint32_t part) const { return row_split_.part(part); }
  [[nodiscard]] Interval column_blocks(std::uint32_t part) const {
    return column_split_.part(part);
  }
  [[nodiscard]] Interval depth_blocks(std::uint32_t part) const { return depth_split_.part(part); }
  [[nodiscard]] std::uint64_t column_blocks() const { return column_split_.total; }
  [[nodiscard]] std::uint64_t depth_blocks() const { return depth_split_.total; }
  [[nodiscard]] Interval depth_blocks(std::uint32_t part, std::uint32_t cut) const;

  /// Partition of an operand's lines, and a tile's part of them.
  [[nodiscard]] const EvenSplit& lines(Side side) const {
    return side == Side::x ? row_split_ : column_split_;
  }
  [[nodiscard]] static std::uint32_t part(Side side, const Cell& cell) {
    return side == Side::x ? cell.row : cell.column;
  }
  /// Bytes of a line in one block of the depth.
  [[nodiscard]] std::uint64_t line_bytes(Side side) const {
    return side == Side::x ? block_.x_bytes() : block_.w_bytes();
  }
  /// Bytes that a tile receives in one superstep.
  [[nodiscard]] std::uint64_t bytes(Side side, const Cell& cell, std::uint32_t cut) const {
    return depth_blocks(cell.depth, cut).size() * lines(side).part(part(side, cell)).size() *
           line_bytes(side);
  }
  /// Bytes of a whole operand, padding included.
  [[nodiscard]] std::uint64_t bytes(Side side) const {
    return depth_split_.total * lines(side).total * line_bytes(side);
  }
  [[nodiscard]] std::uint64_t y_bytes(const Cell& cell) const;
  /// The byte range of Y that this tile adds when the depth is split.
  [[nodiscard]] Interval y_share(const Cell& cell) const;
  /// Position in Y of element `index` of a tile's part, and the inverse; in layout natural parts
  /// are rows when they are added.
  struct YPlace {
    std::uint64_t row, column;
  };
  [[nodiscard]] YPlace y_place(const Cell& cell, std::uint64_t index) const;
  [[nodiscard]] std::uint64_t y_index(const Cell& cell, const YPlace& place) const;
  /// The depth part of the tile that adds that element.
  [[nodiscard]] std::uint64_t adder(const Cell& cell, std::uint64_t index) const;
  [[nodiscard]] std::uint64_t result_bytes(const Cell& cell) const {
    return y_share(cell).size() / block_.partial_bytes * block_.input_bytes;
  }
  /// Bytes of the whole result, padding included.
  [[nodiscard]] std::uint64_t result_bytes() const {
    return row_split_.total * column_split_.total * block_.columns * block_.input_bytes;
  }
  /// True if partials are converted to another type at the end.
  [[nodiscard]] bool converts() const { return block_.input != block_.partial; }
  /// True if tiles of a pair receive the same part of X, false if of W.
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

/// Minimum bytes worth a descriptor.
constexpr std::uint64_t kStorageGrain = 64;
/// Bytes of an operand of `bytes` bytes stored on each of `tiles` tiles before the run (the last
/// tiles may store less).
std::uint64_t stored_bytes(std::uint64_t bytes, std::uint32_t tiles);

}  // namespace tessera::gemm
