#pragma once

#include "kernels/pixelfly/operands.h"
#include "kernels/pixelfly/plan.h"
#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/code/statement.h"

/// Sampled products: the blocks of A B^T that a pattern has, for A[m,n] and B[k,n] stored in blocks
/// on tiles: weight gradients, summed over the batch n. Columns of A and B are divided into parts;
/// the tiles of each part share the blocks, multiply the rows that their blocks need, and send
/// partial blocks to the tiles that add them. Vector code converts both operands' rows to rows of
/// words and multiplies row by row. On the matrix unit a block row of A is the weights, and the
/// rows of B of all its blocks, transposed before (below), are streamed. If the unit has more
/// outputs than a block has rows, several block rows are weights together, and the rows of B of all
/// of them are streamed; the wanted blocks are taken from the outputs.
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
  Partition partition;           ///< pattern in rows of `together` block rows; x: storage of B
  std::vector<DenseRows> a;      ///< storage of A
  bool on_unit = false;          ///< B is stored in squares
  bool transposed = false;       ///< the wanted blocks are those of (A B^T)^T
  std::uint32_t together = 1;    ///< block rows used together as weights
  std::uint32_t block_rows = 0;  ///< block rows of A
  std::vector<SampledBlock> blocks = {};     ///< wanted blocks, in the order of dealing
  std::vector<std::uint64_t> of_dealt = {};  ///< first wanted block of each dealt block; the end
  std::string misfit = {};                   ///< why no plan fits

  [[nodiscard]] std::uint64_t area() const {
    return std::uint64_t{partition.shape.block} * partition.shape.block;
  }
  [[nodiscard]] program::Type partials() const {
    return on_unit ? partition.shape.unit.partial : program::Type::f32;
  }
  [[nodiscard]] std::uint64_t partial_size() const { return data::element_bytes(partials()); }
  /// Storage of the results: all wanted blocks, each row-major; on the unit [rows output at
  /// once][row of B][row of A].
  [[nodiscard]] EvenStorage results() const;
  /// Contiguous elements of a block, all in one row or one column of the wanted matrix.
  struct Run {
    std::uint64_t row, column;  ///< position of the first element in the matrix
    std::uint64_t count;
    bool down;
  };
  /// The run of wanted block `e` that begins at its element `first`.
  [[nodiscard]] Run run(std::uint64_t e, std::uint64_t first) const;
  /// Index of an element within a wanted block.
  [[nodiscard]] std::uint64_t number(std::uint64_t row, std::uint64_t column) const;
  /// Elements of the results from number `first` on that are contiguous on the tiles of `part`.
  struct Partials {
    Tile tile;
    std::uint64_t number, count;  ///< index among the tile's partial elements
  };
  [[nodiscard]] Partials partials_of(const Part& part, std::uint64_t first) const;
  /// Number of contiguous elements, and whether they are in one column.
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
  /// True if vector code must convert blocks to rows.
  [[nodiscard]] bool turns() const { return !on_unit && partition.shape.x_depth() > 1; }
};

/// The plan in printed form, which can be pinned.
inline PinnedCuts pinned(const Sampled& of) {
  const spmm_static::Cuts& cuts = of.partition.cuts;
  return {word(of.partition.parts.size()), cuts.bands, cuts.dealing};
}

/// The work of each tile.
struct SampledWork {
  explicit SampledWork(const Sampled& of) : plan(of), cells(cells_of(of.partition)) {}

  /// Bytes on a tile: its rows of A and of B, its partial blocks, and the wanted part of them.
  [[nodiscard]] std::uint64_t a_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t b_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t partial_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t wanted_bytes(Tile tile) const;

  const Sampled& plan;
  std::vector<spmm_static::Cell> cells;
};

/// Storage of a sampled product's operands, and other memory used on a tile.
struct SampledOperands {
  std::vector<DenseRows> a, b;
  std::uint64_t beside = 0;
  bool on_unit = false;  ///< multiply on the unit, b is in squares
  bool transposed = false;
};

/// Runs of a tile's results; block e's factor is factor(e).
template <class Of>
std::vector<FactorRun> factor_runs(const Sampled& of, std::uint32_t tile, const Of& factor) {
  const EvenStorage storage = of.results();
  const std::uint64_t size = of.partition.shape.bytes();
  return factor_runs(
      {storage.begin(tile) / size, storage.begin(tile + std::uint64_t{1}) / size}, of.blocks.size(),
      [area = of.area()](std::uint64_t e) { return e * area; }, factor);
}

/// Maximum number of parts.
std::uint32_t most_parts(const sparse::Shape& shape, std::uint32_t n, std::uint32_t tiles,
                         bool on_unit);
/// Plans a sampled product; `misfit` is set if nothing fits the tiles' SRAM. Throws KeyError for
/// pinned cuts out of range (named below `keys`).
Sampled plan_sampled(const sparse::BlockMatrix& pattern, const sparse::Shape& shape,
                     std::uint32_t n, MachineCosts& costs, const PinnedCuts& pinned,
                     const SampledOperands& operands, const std::string& keys);

/// The arrays that hold an operand's rows.
using Arrays = std::vector<BufferId>;
/// States the steps of the product; their names begin with `name`. Returns representative tiles.
/// The plan must outlive the description.
std::vector<Tile> state_sampled(const Statement& statement, const Sampled& plan,
                                const std::string& name, const Arrays& a, const Arrays& b,
                                BufferId results);

/// States the steps up to the partial blocks, in vector code or on the unit; returns their array.
BufferId state_partial_blocks(const Statement& statement,
                              const std::shared_ptr<const SampledWork>& work,
                              const std::string& name, const Arrays& a, const Arrays& b);

// Rows of B as the matrix unit reads them for A B^T, whose sums run along columns: in squares of
// x_depth() rows and as many columns as the unit has inputs, each transposed to rows: [chunk of
// rows][square of columns][row][column]. They are transposed where they are stored, in equal
// contiguous parts over all tiles, once for all receivers.

constexpr std::uint32_t square_columns(const sparse::Shape& shape) { return shape.unit.depth; }

/// Storage of `rows` x `columns` elements in equal parts of whole squares.
EvenStorage square_storage(const sparse::Shape& shape, std::uint64_t rows, std::uint32_t columns,
                           std::uint32_t tiles);

/// States the steps that convert rows in blocks, stored in arrays, to squares on the given tiles;
/// rows not stored in whole squares are gathered first. Returns their arrays.
std::vector<BufferId> make_squares(const sparse::Statement& statement, const sparse::Shape& shape,
                                   const std::vector<EvenStorage>& rows,
                                   const std::vector<BufferId>& blocks, std::uint32_t tiles);

}  // namespace tessera::pixelfly
