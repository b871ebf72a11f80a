#pragma once

#include "kernels/pixelfly/operands.h"
#include "kernels/pixelfly/plan.h"
#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/code/statement.h"

/// Sampled products: the blocks of A B^T that a pattern has, for A[m,n] and B[k,n] which lie in
/// blocks on tiles: gradients of weights, the sum over the batch n. Columns of A and B are cut into
/// intervals; the tiles of each share the blocks, multiply the rows that these name, and send their
/// partial blocks to where they are wanted and added up. Vector code turns both operands' rows into
/// rows of words and multiplies them row by row. For the matrix unit a block row of A is weights,
/// past which the rows of B of all its blocks go, turned before (below). Where the unit gives
/// more sums than a block has rows, some block rows are weights together, past which go the rows of
/// B that one of them names; of what comes out the blocks that are wanted are taken.
namespace tessera::pixelfly {

using spmm_static::Dealing;
using spmm_static::DenseRows;
using spmm_static::Part;
using spmm_static::Partition;
using spmm_static::Share;
using spmm_static::Statement;
using spmm_static::Tile;

struct SampledBlock {
  std::uint32_t row, column;
};

/// The plan of one sampled product.
struct Sampled {
  Partition partition;           ///< pattern in rows of `together` block rows; x: where B lies
  std::vector<DenseRows> a;      ///< where A lies
  bool on_unit = false;          ///< B lies in squares
  bool transposed = false;       ///< the wanted blocks are those of (A B^T)^T
  std::uint32_t together = 1;    ///< block rows that are weights together
  std::uint32_t block_rows = 0;  ///< block rows of A
  std::vector<SampledBlock> blocks = {};     ///< wanted blocks, in the order of the deal
  std::vector<std::uint64_t> of_dealt = {};  ///< by dealt block: its first wanted one; the end
  std::string misfit = {};                   ///< why no plan fits

  [[nodiscard]] std::uint64_t area() const {
    return std::uint64_t{partition.shape.block} * partition.shape.block;
  }
  [[nodiscard]] program::Type partials() const {
    return on_unit ? partition.shape.unit.partial : program::Type::f32;
  }
  [[nodiscard]] std::uint64_t partial_size() const { return data::element_bytes(partials()); }
  /// Results: all blocks that are wanted, each row by row; on the unit [rows that it gives at
  /// once][row of B][row of A].
  [[nodiscard]] EvenStorage results() const;
  /// Elements of a block that lie side by side, and as what: of one row or one column of the matrix
  /// that is wanted.
  struct Run {
    std::uint64_t row, column;  ///< the first element's place in the matrix
    std::uint64_t count;
    bool down;
  };
  /// Those of block `e` that is wanted from its number `first` on.
  [[nodiscard]] Run run(std::uint64_t e, std::uint64_t first) const;
  /// Where an element of a block of what is wanted stands among its elements.
  [[nodiscard]] std::uint64_t number(std::uint64_t row, std::uint64_t column) const;
  /// Elements of the results from number `first` on as the tiles of `part` make them side by side.
  struct Partials {
    Tile tile;
    std::uint64_t number, count;  ///< among the tile's partial elements
  };
  [[nodiscard]] Partials partials_of(const Part& part, std::uint64_t first) const;
  /// Elements side by side: how many, and whether they are of one column.
  [[nodiscard]] std::uint32_t line() const {
    return on_unit ? partition.shape.y_depth() : partition.shape.block;
  }
  [[nodiscard]] bool down() const { return on_unit != transposed; }
  [[nodiscard]] std::uint32_t row(std::uint64_t e) const {
    return transposed ? blocks[e].column : blocks[e].row;
  }
  [[nodiscard]] std::uint32_t column(std::uint64_t e) const {
    return transposed ? blocks[e].row : blocks[e].column;
  }
  /// True if vector code must make rows of blocks.
  [[nodiscard]] bool turns() const { return !on_unit && partition.shape.x_depth() > 1; }
};

/// The plan as it is printed and can be pinned.
inline PinnedCuts pinned(const Sampled& of) {
  const spmm_static::Cuts& cuts = of.partition.cuts;
  return {word(of.partition.parts.size()), cuts.bands, cuts.dealing};
}

/// A plan by tile.
struct SampledWork {
  explicit SampledWork(const Sampled& of) : plan(of), cells(cells_of(of.partition)) {}

  /// Bytes of a tile: rows of A and of B that it needs, its partial blocks, and of these what is
  /// wanted.
  [[nodiscard]] std::uint64_t a_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t b_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t partial_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t wanted_bytes(Tile tile) const;

  const Sampled& plan;
  std::vector<spmm_static::Cell> cells;
};

/// Where a sampled product's operands lie, and what else is in a tile's memory.
struct SampledOperands {
  std::vector<DenseRows> a, b;
  std::uint64_t beside = 0;
  bool on_unit = false;  ///< b is in squares: multiply on the unit
  bool transposed = false;
};

/// Runs of what a tile holds of the results; block e's factor is factor(e).
template <class Of>
std::vector<FactorRun> factor_runs(const Sampled& of, std::uint32_t tile, const Of& factor) {
  const EvenStorage storage = of.results();
  const std::uint64_t size = of.partition.shape.bytes();
  return factor_runs(
      {storage.begin(tile) / size, storage.begin(tile + std::uint64_t{1}) / size}, of.blocks.size(),
      [area = of.area()](std::uint64_t e) { return e * area; }, factor);
}

/// The intervals that there may be at most.
std::uint32_t most_parts(const sparse::Shape& shape, std::uint32_t n, std::uint32_t tiles,
                         bool on_unit);
/// Its `misfit` says if nothing fits the tiles' SRAM. Throws KeyError for pinned cuts out of range
/// (named below `keys`).
Sampled plan_sampled(const sparse::BlockMatrix& pattern, const sparse::Shape& shape,
                     std::uint32_t n, MachineCosts& costs, const PinnedCuts& pinned,
                     const SampledOperands& operands, const std::string& keys);

/// The storage of each operand's rows, an array each.
using Arrays = std::vector<BufferId>;
/// States the steps of the product; their names begin with `name`. Returns the tiles that stand for
/// all others. The plan outlives the description.
std::vector<Tile> state_sampled(const Statement& statement, const Sampled& plan,
                                const std::string& name, const Arrays& a, const Arrays& b,
                                BufferId results);

/// Those up to the partial blocks, which are returned, in vector code or on the unit.
BufferId state_partial_blocks(const Statement& statement,
                              const std::shared_ptr<const SampledWork>& work,
                              const std::string& name, const Arrays& a, const Arrays& b);

// Rows of B as the matrix unit takes them for A B^T, whose sums run along columns: in squares of
// x_depth() rows and as many columns as the unit has inputs, each of which is turned to rows:
// [chunk of rows][square of columns][row][column]. They are turned where they lie in equal
// stretches on all tiles, once for all tiles that take them.

constexpr std::uint32_t square_columns(const sparse::Shape& shape) { return shape.unit.depth; }

/// So many rows of so many columns in equal stretches of whole squares.
EvenStorage square_storage(const sparse::Shape& shape, std::uint64_t rows, std::uint32_t columns,
                           std::uint32_t tiles);

/// States the steps that make squares of rows in blocks, which lie in arrays, on so many tiles;
/// those that do not lie in whole squares are brought together first. Returns their arrays.
std::vector<BufferId> make_squares(const sparse::Statement& statement, const sparse::Shape& shape,
                                   const std::vector<EvenStorage>& rows,
                                   const std::vector<BufferId>& blocks, std::uint32_t tiles);

}  // namespace tessera::pixelfly
