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

/// How Y[m,n] = W[m,k] X[k,n] is cut over tiles: columns of X and Y in intervals, a layer of tiles
/// each.
namespace tessera::spmm_static {

// The order in which the blocks of W are dealt to tiles: band after band of its block columns, row
// after row within a band, column after column within a row.

/// Block columns of W in bands of about equally many blocks. Bands without blocks are left out.
struct Bands {
  std::vector<std::uint32_t> column;  ///< bands + 1 boundaries in block columns
  std::vector<std::uint64_t> blocks;  ///< blocks of each band

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(blocks.size()); }
};

std::vector<std::uint32_t> blocks_by_column(const sparse::BlockMatrix& w);

/// Up to `wanted` bands: each takes columns until it has its equal part of the blocks.
Bands cut_bands(const std::vector<std::uint32_t>& by_column, std::uint32_t wanted);

/// Blocks in dealing order.
struct Deal {
  Bands bands;
  std::vector<std::uint32_t> filled;      ///< block rows that have blocks, ascending
  std::vector<std::uint64_t> band_begin;  ///< bands + 1: first block of each
  std::vector<std::uint32_t> row;         ///< block row of each block
  std::vector<std::uint32_t> column;
  std::vector<std::uint64_t> source;  ///< its number in W
  /// Elements that stand before each block in the values of W as dealt; blocks + 1 of them.
  std::vector<std::uint64_t> value_begin;

  [[nodiscard]] std::uint64_t blocks() const { return row.size(); }
};

/// Values [first, ...) of W as dealt, each block in the order of the weight store.
void fill_values(const Deal& deal, const sparse::BlockMatrix& w, const sparse::Shape& shape,
                 std::uint64_t first, std::span<std::byte> into);

/// The blocks of one block row on one tile: [first, last) in dealing order.
struct RowRun {
  std::uint32_t row;
  std::uint64_t first;
  std::uint64_t last;
};

/// A tile's share: consecutive blocks of a band.
struct Share {
  std::uint32_t place;  ///< the tile's place within its layer
  std::uint64_t first;  ///< block in dealing order
  std::uint64_t last;
  std::vector<RowRun> rows;
  std::vector<std::uint32_t> columns;  ///< block columns that they name, ascending

  [[nodiscard]] std::uint64_t blocks() const { return last - first; }
};

struct Layer {
  std::uint32_t tiles = 0;
  std::vector<Share> shares;  ///< by place; tiles without blocks have none
};

/// Tiles for each band in proportion to its blocks (or its work), at least `grain` and in multiples
/// of it, no more than its blocks need; empty if there are too few tiles.
std::vector<std::uint32_t> tiles_by_band(const std::vector<std::uint64_t>& blocks,
                                         std::uint32_t tiles, std::uint32_t grain);

/// How the blocks of a band are divided over its tiles.
enum class Dealing : std::uint8_t {
  blocks,  ///< equally many each, as published; rows may straddle tiles
  work,    ///< equally much work each; rows may straddle tiles
  rows,    ///< about equally much work each, in whole rows
};

struct DealingRules {
  Dealing dealing = Dealing::blocks;
  std::uint32_t grain = 1;  ///< a band has a multiple of so many tiles
  bool even_rows = false;   ///< rows have even lengths in the deal: none is cut at an odd element
  /// Work of so many blocks of one row, growing with their number; not used to deal `blocks`.
  std::function<std::uint64_t(std::uint64_t blocks)> row_work;
};

/// Deals each band's blocks in order to its tiles; without shares if there are too few tiles.
Layer make_layer(const Deal& deal, std::uint32_t tiles, const DealingRules& rules);

// How the workers of a tile divide the rows and columns of an element-wise product, and how long
// they take, who may compete for its pipeline.

/// Cycles of one piece of work.
struct WorkerCycles {
  std::uint64_t full = 0;   ///< while all workers of the tile do the same
  std::uint64_t alone = 0;  ///< while the others do nothing

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

/// Cycles of a tile, given each worker's work: the fewer workers still run, the sooner each has its
/// turn, up to the pace of a worker alone. Where nothing is shared, the longest worker's.
std::uint64_t together(const std::vector<WorkerCycles>& workers);

/// Cycles of a product's codelet: of a tile once, of a worker for each pass, and of a worker for
/// each row of so many nonzeros in a pass.
struct ElementWork {
  std::uint64_t once = 0;
  WorkerCycles pass = {};
  std::vector<WorkerCycles> row = {};  ///< by nonzeros, up to those of the fullest row
};

/// Work of passes of one word and of two.
struct ElementWorks {
  ElementWork narrow, wide;

  [[nodiscard]] const ElementWork& of(std::uint32_t words) const {
    return words == 2 ? wide : narrow;
  }
};

/// The workers' rows, numbered within the tile's share, and the cycles of all.
struct Divided {
  std::vector<sparse::WorkerRows> workers;
  std::uint64_t cycles;
};
Divided divide(const Share& share, const ElementWork& work, std::uint32_t passes,
               std::uint32_t workers);

/// How the workers of a tile may share a product of blocks in vector code.
struct Sharing {
  std::uint32_t column_parts;  ///< workers that take the same rows, and divide the columns
  std::uint32_t together;      ///< columns that are not divided

  friend auto operator<=>(const Sharing&, const Sharing&) = default;
  /// Rectangles of rows and pieces of the columns, one a worker.
  [[nodiscard]] std::vector<sparse::WorkerRows> workers(const std::vector<std::uint64_t>& before,
                                                        std::uint32_t width,
                                                        std::uint32_t contexts) const {
    return sparse::rectangles(before, ceil_div(width, together), contexts, column_parts);
  }
};
/// Cycles of a tile, and of each block row and each block of its slowest worker.
struct SharingPrice {
  double once, row, block;
};
using PricedSharings = std::map<Sharing, SharingPrice>;
/// The way that takes least for a share, whose rows have more blocks or fewer.
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

/// Rows of X from row `first` on, in equal parts on all tiles, in order [chunk of x_depth()
/// rows][column][row of the chunk].
struct DenseRows {
  std::uint64_t first;
  EvenStorage storage;
};

/// So many rows of X or Y as they are given and wanted: whole words, panels where rows must become
/// blocks.
EvenStorage rows_on_tiles(const Shape& shape, std::uint64_t rows, std::uint32_t columns,
                          std::uint32_t tiles);

/// Where partial rows are added up.
enum class Sums : std::uint8_t {
  home,    ///< where their results are wanted
  placed,  ///< each sum where the published library places it
};

/// How a product is cut.
struct Cuts {
  std::uint32_t parts;  ///< intervals of columns of X
  std::uint32_t bands;  ///< bands of block columns of W
  Dealing dealing = Dealing::blocks;
  Sums sums = Sums::home;
  std::uint32_t grain = 0;  ///< columns that stay together; 0: those of a word
  /// If X, Y and the values of W lie outside: the rest is for one part of the columns, in rounds,
  /// and for one part of the block rows of W.
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
  Cuts cuts;                        ///< asked for; fewer bands may come of them
  std::vector<DenseRows> x;         ///< in order: what is given, then what is made before
  Deal deal;
  std::vector<Layer> layers;
  std::vector<Part> parts;
  std::shared_ptr<const ElementWorks> work;  ///< work of single elements
  /// Prices of blocks in vector code, by the width of a part.
  std::map<std::uint32_t, PricedSharings> sharings = {};
  std::optional<published::ReductionPlacement> placement =
      std::nullopt;  ///< else partial rows are added at home

  [[nodiscard]] const Layer& layer(const Part& part) const { return layers[part.layer]; }
  /// X and Y as they are given and wanted, the values of W where tiles share them: in equal parts
  /// on all tiles of the machine.
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
  /// Bytes of a tile of `part`: rows of X of a block, X that `share` needs, values of W, partial
  /// rows.
  [[nodiscard]] std::uint64_t block_bytes(const Part& part) const;
  /// 64-bit words of X that `share` needs before the rows of dealt block `e`, as lists name them.
  [[nodiscard]] std::uint64_t place(const Part& part, const Share& share, std::uint64_t e) const;
  [[nodiscard]] std::uint64_t x_bytes(const Part& part, const Share& share) const;
  [[nodiscard]] std::uint64_t value_bytes(const Share& share) const;
  [[nodiscard]] std::uint64_t row_bytes(const Part& part) const;  ///< per partial block row
  [[nodiscard]] bool shares_values() const { return parts.size() > 1; }
};

/// Tiles of an interval come in pairs, as neighbours share an input bus, where the machine has an
/// even number of them.
constexpr std::uint32_t tile_grain(std::uint32_t tiles) { return tiles % 2 == 0 ? 2 : 1; }

/// Up to `wanted` equal intervals of `columns` with tiles in proportion, as published where blocks
/// are dealt so; `layer` is their number of tiles. Empty if an interval has no tiles.
std::vector<Part> cut_columns(std::uint32_t columns, std::uint32_t wanted, std::uint32_t grain,
                              std::uint32_t tiles, Dealing dealing);

/// The partition into up to so many intervals and bands; without parts if they do not go onto the
/// tiles. `work`: of single elements; `x`: where X lies if not in equal parts as a whole.
Partition make_partition(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
                         std::uint32_t tiles, const Cuts& cuts,
                         std::shared_ptr<const ElementWorks> work = {},
                         std::vector<DenseRows> x = {});

}  // namespace tessera::spmm_static
