#pragma once

#include "kernels/pixelfly/gamma.h"
#include "kernels/pixelfly/plan.h"
#include "kernels/sparse/plan/traffic.h"
#include "kernels/sparse/plan/transposition_cost.h"
#include "kernels/spmm_static/plan.h"
#include "kernels/spmm_static/product.h"
#include "sim/plan/fitted_cost.h"
#include "sim/plan/step_costs.h"

/// Sampled products: the blocks of A B^T that a pattern has, for A[m,n] and B[k,n] which lie in
/// blocks on tiles: gradients of weights, the sum over the batch n. Columns of A and B are cut into
/// intervals; the tiles of each share the blocks, multiply the rows that these name, and send their
/// partial blocks to where they are wanted and added up. Vector code turns both operands' rows into
/// rows of words and multiplies them row by row. For the matrix unit a block row of A is weights,
/// past which the rows of B of all its blocks go, turned before (squares.h). Where the unit gives
/// more sums than a block has rows, some block rows are weights together, past which go the rows of
/// B that one of them names; of what comes out the blocks that are wanted are taken.
namespace tessera::pixelfly {

using spmm_static::DenseRows;
using spmm_static::Part;
using spmm_static::Partition;
using spmm_static::Share;

/// A block of A B^T.
struct SampledBlock {
  std::uint32_t row, column;
};

/// Of one sampled product.
struct Sampled {
  Partition partition;  ///< of the pattern, whose rows are `together` block rows; x: where B lies
  std::vector<DenseRows> a;  ///< where A lies
  Prediction prediction = {};
  bool on_unit = false;                      ///< B lies in squares
  bool transposed = false;                   ///< what is wanted are blocks of (A B^T)^T
  std::uint32_t together = 1;                ///< block rows that are weights together
  std::uint32_t block_rows = 0;              ///< of A
  std::vector<SampledBlock> blocks = {};     ///< that are wanted, in the order of the deal
  std::vector<std::uint64_t> of_dealt = {};  ///< the first of them of each dealt one; one more

  [[nodiscard]] std::uint64_t area() const {
    return std::uint64_t{partition.shape.block} * partition.shape.block;
  }
  [[nodiscard]] program::Type partials() const {
    return on_unit ? partition.shape.unit.partial : program::Type::f32;
  }
  /// Results: all blocks that are wanted, each row by row; on the unit [rows that it gives at
  /// once][row of B][row of A].
  [[nodiscard]] kernels::EvenStorage results() const;
  /// Elements of a block that lie side by side, and as what: of one row or one column of the matrix
  /// that is wanted.
  struct Run {
    std::uint64_t row, column;  ///< of the first in the matrix
    std::uint64_t count;
    bool down;
  };
  /// Those of block `e` that is wanted from its number `first` on.
  [[nodiscard]] Run run(std::uint64_t e, std::uint64_t first) const;
  /// Where an element of a block of what is wanted stands among its elements.
  [[nodiscard]] std::uint64_t number(std::uint64_t row, std::uint64_t column) const;
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
  /// Bytes of a tile: rows of A and of B that `share` needs, its partial blocks, and of these what
  /// is wanted.
  [[nodiscard]] std::uint64_t a_bytes(const Part& part, const Share& share) const;
  [[nodiscard]] std::uint64_t b_bytes(const Part& part, const Share& share) const;
  [[nodiscard]] std::uint64_t partial_bytes(const Share& share) const;
  [[nodiscard]] std::uint64_t wanted_bytes(const Share& share) const;
  /// Blocks of a share that are wanted.
  [[nodiscard]] std::uint64_t wanted(const Share& share) const {
    return of_dealt[share.last] - of_dealt[share.first];
  }
  /// Whether vector code must make rows of blocks.
  [[nodiscard]] bool turns() const { return !on_unit && partition.shape.x_depth() > 1; }
  /// Of the fullest tile, about; `beside` of it others hold.
  [[nodiscard]] program::CategoryBytes memory(std::uint64_t beside) const;
};

/// The plan as it is printed and can be pinned.
inline PinnedCuts pinned(const Sampled& of) {
  return {word(of.partition.parts.size()), of.partition.cuts.bands};
}

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
  const kernels::EvenStorage storage = of.results();
  const std::uint64_t size = of.partition.shape.bytes();
  return factor_runs(
      {storage.begin(tile) / size, storage.begin(tile + 1) / size}, of.blocks.size(),
      [area = of.area()](std::uint64_t e) { return e * area; }, factor);
}

/// Throws UserError if nothing fits the tiles' SRAM, KeyError for pinned cuts out of range (named
/// below `keys`).
Sampled plan_sampled(const sparse::BlockMatrix& pattern, const sparse::Shape& shape,
                     std::uint32_t n, MachineCosts& costs, const PinnedCuts& pinned,
                     const SampledOperands& operands, const std::string& keys);

/// Adds the steps of the product to a program; their names begin with `name`. `a` and `b` by
/// operand and tile; `results` by tile. The plan outlives the program.
void add_sampled(sparse::Assembly& assembly, const Sampled& plan, const std::string& name,
                 const spmm_static::BuffersOfRows& a, const spmm_static::BuffersOfRows& b,
                 const std::vector<program::BufferId>& results);

/// What both planning and building need.
struct SampledTile {
  program::BufferId a_blocks, b_blocks, a_rows, b_rows, partial;
};
/// Rows of `width` columns in blocks, as they are turned.
sparse::Chunked rows_in_blocks(const sparse::Shape& shape, std::uint32_t width, std::uint64_t rows);
/// Of `bytes` bytes of rows of `width` columns in blocks, to rows of words.
void add_turning(sparse::Assembly& assembly, program::ComputeSet& set, const Sampled& plan,
                 TileId tile, std::uint32_t width, std::uint64_t bytes, program::BufferId from,
                 program::BufferId to);
/// A worker's block rows, the rows of each block, what lies before them in the list (u16) and in
/// the values (blocks), and its own blocks.
struct SampledWorker {
  std::uint32_t rows, first, passes, list, blocks, own;
};
program::Vertex gradient_vertex(sparse::Assembly& assembly, const sparse::Shape& shape, TileId tile,
                                const SampledTile& buffers, program::BufferId list,
                                std::uint32_t width, const std::vector<SampledWorker>& workers);
/// Workers share block rows, and rows of blocks where there are few.
std::vector<SampledWorker> divide(const Sampled& plan, const Share& share, std::uint32_t contexts);

/// Shape of the sums of partial blocks.
sparse::Shape summing(const Sampled& plan);

/// Elements of the results, from number `first` on, of which a tile has the partial ones.
struct PartialRun {
  program::Place from;
  std::uint64_t first, count;
};
/// Partial blocks, by part, to where their results are wanted, part after part, and their sums.
void add_sums(sparse::Assembly& assembly, const Sampled& plan, const std::string& name,
              const std::vector<std::vector<PartialRun>>& partials,
              const std::vector<program::BufferId>& results);

}  // namespace tessera::pixelfly
