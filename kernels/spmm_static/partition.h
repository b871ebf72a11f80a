#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/external.h"
#include "kernels/sparse/code/relayout.h"
#include "kernels/sparse/published/reduction_placement.h"
#include "kernels/spmm_static/element_work.h"

/// How Y[m,n] = W[m,k] X[k,n] is cut over tiles: columns of X and Y in intervals, a layer of tiles
/// each.
namespace tessera::spmm_static {

using kernels::EvenStorage;
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

/// What a tile holds of these, in order [chunk of `depth` rows][column][row of the chunk].
sparse::Chunked chunks_of(const EvenStorage& storage, const Shape& shape, std::uint32_t columns,
                          std::uint32_t depth, std::uint64_t tile);

/// Where partial rows are added up.
enum class Sums : std::uint8_t {
  home,    ///< where their results are wanted
  placed,  ///< each sum where the published library places it
};

/// How a product is cut.
struct Cuts {
  std::uint32_t parts;  ///< intervals of columns of X
  std::uint32_t bands;  ///< of block columns of W
  Dealing dealing = Dealing::blocks;
  Sums sums = Sums::home;
  std::uint32_t grain = 0;  ///< columns that stay together; 0: those of a word
  /// Where X, Y and the values of W lie outside: of a part of the columns, in rounds, and of a part
  /// of the block rows of W all else is said.
  std::uint32_t rounds = 1;
  std::uint32_t row_parts = 1;
  kernels::Loads loads = kernels::Loads::apart;

  friend auto operator<=>(const Cuts&, const Cuts&) = default;
};

struct Partition {
  Shape shape;
  std::uint32_t block_rows = 0;     ///< of W
  std::uint32_t block_columns = 0;  ///< of W
  std::uint32_t columns = 0;        ///< of X and Y with padding, of a round
  std::uint32_t tiles = 0;          ///< of the machine
  Cuts cuts;                        ///< asked for; fewer bands may come of them
  std::vector<DenseRows> x;         ///< in order: what is given, then what is made before
  Deal deal;
  std::vector<Layer> layers;
  std::vector<Part> parts;
  std::shared_ptr<const ElementWorks> work;  ///< of single elements
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
  [[nodiscard]] std::uint64_t y_elements() const { return y_storage().bytes() / shape.bytes(); }
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
  [[nodiscard]] std::uint64_t row_bytes(const Part& part) const;  ///< of one partial block row
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
