#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/external.h"
#include "kernels/sparse/code/relayout.h"
#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/sparse/published/reduction_placement.h"

/// Partition of Y[m,n] = W[m,k] X[k,n] over tiles: the columns of X and Y in intervals, each with a
/// layer of tiles.
namespace tessera::spmm_static {

// Distribution order of the blocks of W: by band of block columns, within a band by block row,
// within a row by block column.

/// Bands of block columns of W with about equally many blocks each, none without blocks.
struct Bands {
  std::vector<std::uint32_t> column;  ///< bands + 1 boundaries in block columns
  std::vector<std::uint64_t> blocks;  ///< blocks of each band

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(blocks.size()); }
};

std::vector<std::uint32_t> blocks_by_column(const sparse::BlockMatrix& w);

/// Up to `wanted` bands; each takes columns until it has its equal share of the blocks.
Bands cut_bands(const std::vector<std::uint32_t>& by_column, std::uint32_t wanted);

/// The blocks in distribution order.
struct Distribution {
  Bands bands;
  std::vector<std::uint32_t> filled;      ///< block rows that have blocks, ascending
  std::vector<std::uint64_t> band_begin;  ///< bands + 1: first block of each
  std::vector<std::uint32_t> row;         ///< block row of each block
  std::vector<std::uint32_t> column;
  std::vector<std::uint64_t> source;  ///< its number among the blocks of W
  /// First element of each block in the distributed values of W; blocks + 1 entries.
  std::vector<std::uint64_t> value_begin;

  [[nodiscard]] std::uint64_t blocks() const { return row.size(); }
};

/// Fills in the distributed values of W from number `first` on, each block in the order of the
/// weight store.
void fill_values(const Distribution& deal, const sparse::BlockMatrix& w, const sparse::Shape& shape,
                 std::uint64_t first, std::span<std::byte> into);

/// The blocks of one block row on one tile: [first, last) in distribution order.
struct RowRun {
  std::uint32_t row;
  std::uint64_t first;
  std::uint64_t last;
};

/// A tile's share: consecutive blocks of a band.
struct Share {
  std::uint32_t place;  ///< the tile's place within its layer
  std::uint64_t first;  ///< block in distribution order
  std::uint64_t last;
  std::vector<RowRun> rows;
  std::vector<std::uint32_t> columns;  ///< block columns of its blocks, ascending

  [[nodiscard]] std::uint64_t blocks() const { return last - first; }
};

struct Layer {
  std::uint32_t tiles = 0;
  std::vector<Share> shares;  ///< by place; tiles without blocks have none
};

/// Tiles of each band in proportion to its blocks (or work): a multiple of `grain`, at least
/// `grain` and no more than its blocks need. Empty if there are too few tiles.
std::vector<std::uint32_t> tiles_by_band(const std::vector<std::uint64_t>& blocks,
                                         std::uint32_t tiles, std::uint32_t grain);

/// How the blocks of a band are divided over its tiles.
enum class Dealing : std::uint8_t {
  blocks,  ///< equally many per tile, as published; rows may straddle tiles
  work,    ///< equal work per tile; rows may straddle tiles
  rows,    ///< about equal work per tile, in whole rows
};

struct DealingRules {
  Dealing dealing = Dealing::blocks;
  std::uint32_t grain = 1;  ///< tiles of a band are a multiple of it
  bool even_rows = false;   ///< no row is cut at an odd element
  /// Work of a number of blocks of one row, increasing; not used if `blocks` are distributed.
  std::function<std::uint64_t(std::uint64_t blocks)> row_work;
};

/// Distributes each band's blocks in order over its tiles; without shares if there are too few.
Layer make_layer(const Distribution& deal, std::uint32_t tiles, const DealingRules& rules);

// Division of a product's rows and columns over the workers of a tile, and its cycles when workers
// compete for the pipeline.

/// A worker's cycles for some work.
struct WorkerCycles {
  std::uint64_t full = 0;   ///< while all workers of the tile do the same
  std::uint64_t alone = 0;  ///< while the others are idle

  WorkerCycles& operator+=(const WorkerCycles& other) {
    full += other.full;
    alone += other.alone;
    return *this;
  }
  friend WorkerCycles operator+(WorkerCycles a, const WorkerCycles& b) { return a += b; }
  friend WorkerCycles operator*(std::uint64_t times, const WorkerCycles& one) {
    return {times * one.full, times * one.alone};
  }
};

/// Cycles of a tile, given each worker's work. Fewer busy workers run faster, up to the pace of a
/// single worker; without a shared pipeline the slowest worker decides.
std::uint64_t together(const std::vector<WorkerCycles>& workers);

/// Cycles of a product's codelet: once per tile, per pass of a worker, and per row of a pass by its
/// nonzeros.
struct ElementWork {
  std::uint64_t once = 0;
  WorkerCycles pass = {};
  std::vector<WorkerCycles> row = {};  ///< by number of nonzeros, up to the fullest row's
};

/// Work of passes of one word and of two.
struct ElementWorks {
  ElementWork narrow, wide;

  [[nodiscard]] const ElementWork& of(std::uint32_t words) const {
    return words == 2 ? wide : narrow;
  }
};

/// Each worker's rows, numbered within the tile's share, and the cycles of the tile.
struct WorkerDivision {
  std::vector<sparse::WorkerRows> workers;
  std::uint64_t cycles;
};
WorkerDivision divide(const Share& share, const ElementWork& work, std::uint32_t passes,
                      std::uint32_t workers);

/// A way for the workers of a tile to share a product of blocks in vector code.
struct Sharing {
  std::uint32_t column_parts;  ///< workers that divide the columns of the same rows
  std::uint32_t together;      ///< columns of one worker's pass

  friend auto operator<=>(const Sharing&, const Sharing&) = default;
  /// Rows and columns of each worker.
  [[nodiscard]] std::vector<sparse::WorkerRows> workers(const std::vector<std::uint64_t>& before,
                                                        std::uint32_t width,
                                                        std::uint32_t contexts) const {
    return sparse::rectangles(before, ceil_div(width, together), contexts, column_parts);
  }
};
/// Cycles per tile, per block row and per block of its slowest worker.
struct SharingPrice {
  double once, row, block;
};
using PricedSharings = std::map<Sharing, SharingPrice>;
/// The fastest way for a share.
struct Shared {
  Sharing sharing{};
  std::vector<sparse::WorkerRows> workers = {};
  std::uint64_t rows = 0, blocks = 0;  ///< rows and blocks of the slowest worker
  double cycles = 0;
};
Shared share_out(const Share& share, const PricedSharings& sharings, std::uint32_t width,
                 std::uint32_t contexts);

using program::Type;
using sparse::Shape;
namespace published = sparse::published;

/// An interval of columns and the tiles that compute it.
struct Part {
  std::uint32_t begin;  ///< columns
  std::uint32_t end;
  std::uint32_t first_tile;
  std::uint32_t layer;  ///< index in Partition::layers

  [[nodiscard]] std::uint32_t width() const { return end - begin; }
};

/// Rows of X from row `first` on, stored evenly on all tiles in the order [chunk of x_depth()
/// rows][column][row of the chunk].
struct DenseRows {
  std::uint64_t first;
  EvenStorage storage;
};

/// Storage of `rows` rows of X or Y as given or wanted: in whole words, or in panels if rows are
/// regrouped into blocks.
EvenStorage rows_on_tiles(const Shape& shape, std::uint64_t rows, std::uint32_t columns,
                          std::uint32_t tiles);

/// Where partial rows are summed.
enum class Sums : std::uint8_t {
  home,    ///< on the tile that holds the result
  placed,  ///< where the published library places each sum
};

/// The cuts of a product.
struct Cuts {
  std::uint32_t parts;  ///< intervals of columns of X
  std::uint32_t bands;  ///< bands of block columns of W
  Dealing dealing = Dealing::blocks;
  Sums sums = Sums::home;
  std::uint32_t grain = 0;  ///< columns that are not divided; 0: those of a word
  /// With X, Y and the values of W in external memory: rounds of columns; the other cuts are of one
  /// round and of one part of the block rows of W.
  std::uint32_t rounds = 1;
  std::uint32_t row_parts = 1;
  kernels::Loads loads = kernels::Loads::apart;

  friend auto operator<=>(const Cuts&, const Cuts&) = default;
};

struct Partition {
  Shape shape;
  std::uint32_t block_rows = 0;     ///< block rows of W
  std::uint32_t block_columns = 0;  ///< block columns of W
  std::uint32_t columns = 0;        ///< columns of X and Y with padding, per round
  std::uint32_t tiles = 0;          ///< tiles of the machine
  Cuts cuts;                        ///< as asked for; there may be fewer bands
  std::vector<DenseRows> x;         ///< in order: given rows, then rows made by steps before
  Distribution deal;
  std::vector<Layer> layers;
  std::vector<Part> parts;
  std::shared_ptr<const ElementWorks> work;  ///< work of single elements
  /// Prices of blocks in vector code, by the width of a part.
  std::map<std::uint32_t, PricedSharings> sharings = {};
  std::optional<published::ReductionPlacement> placement = std::nullopt;  ///< nullopt: Sums::home

  [[nodiscard]] const Layer& layer(const Part& part) const { return layers[part.layer]; }
  /// Even storage on all tiles of the machine: X as given, Y as wanted, values of W that tiles
  /// share.
  [[nodiscard]] const EvenStorage& x_storage() const { return x.front().storage; }
  [[nodiscard]] EvenStorage y_storage() const {
    return rows_on_tiles(shape, std::uint64_t{block_rows} * shape.block, columns, tiles);
  }
  [[nodiscard]] EvenStorage value_storage() const {
    return {values() * shape.bytes(), std::uint64_t{8} * shape.bytes(), tiles};
  }
  [[nodiscard]] std::uint64_t values() const { return deal.value_begin.back(); }
  [[nodiscard]] std::uint32_t tile(const Part& part, std::size_t share) const {
    return part.first_tile + layer(part).shares[share].place;
  }
  /// Bytes on a tile of `part`: rows of X for a block; below, X that `share` needs, its values of
  /// W, a partial block row.
  [[nodiscard]] std::uint64_t block_bytes(const Part& part) const;
  /// Place of block `e`'s rows in the X that `share` needs, in 64-bit words, as in work lists.
  [[nodiscard]] std::uint64_t place(const Part& part, const Share& share, std::uint64_t e) const;
  [[nodiscard]] std::uint64_t x_bytes(const Part& part, const Share& share) const;
  [[nodiscard]] std::uint64_t value_bytes(const Share& share) const;
  [[nodiscard]] std::uint64_t row_bytes(const Part& part) const;  ///< per partial block row
  [[nodiscard]] bool shares_values() const { return parts.size() > 1; }
};

/// An interval has whole pairs of tiles, which share an input bus, if the machine has an even
/// number of tiles.
constexpr std::uint32_t tile_grain(std::uint32_t tiles) { return tiles % 2 == 0 ? 2 : 1; }

/// Up to `wanted` equal intervals of `columns` with tiles in proportion (Dealing::blocks: as
/// published); `layer` is their number of tiles. Empty if an interval has no tiles.
std::vector<Part> cut_columns(std::uint32_t columns, std::uint32_t wanted, std::uint32_t grain,
                              std::uint32_t tiles, Dealing dealing);

/// The partition into at most these intervals and bands; without parts if there are too few tiles.
/// `work`: of single elements; `x`: storage of X if it is not one even array.
Partition make_partition(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
                         std::uint32_t tiles, const Cuts& cuts,
                         std::shared_ptr<const ElementWorks> work = {},
                         std::vector<DenseRows> x = {});

}  // namespace tessera::spmm_static
