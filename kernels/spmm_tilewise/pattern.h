#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/fields.h"
#include "sim/program/program.h"

/// Tile-wise pruning of a dense W[k, n] (Guo et al., SC'20, arXiv 2008.13006, 4): the kept rows of
/// each tile of G columns, the kept columns and the kept single elements.
namespace tessera::spmm_tilewise {

/// W[k, n], row-major, rounded to the workload's dtype.
struct DenseWeights {
  std::uint32_t rows = 0;     ///< k
  std::uint32_t columns = 0;  ///< n
  std::vector<float> value;
  std::uint64_t rounded = 0;  ///< values of a file that were rounded to the dtype

  [[nodiscard]] float at(std::uint64_t row, std::uint64_t column) const {
    return value[row * columns + column];
  }
};

/// tw_1d: prunes rows of tiles; tw_2d: whole columns first, then rows of tiles of the remaining
/// columns; tew: as tw_2d, then restores single elements.
enum class Method : std::uint8_t { tw_1d, tw_2d, tew };
/// Rows of tiles are ranked over all tiles, or within each one, so that all tiles keep equally
/// many.
enum class Ranking : std::uint8_t { global, tile };

struct Pruning {
  Method method = Method::tw_1d;
  double sparsity = 0.75;           ///< share of the elements of W that is pruned
  std::uint32_t granularity = 128;  ///< G
  Ranking ranking = Ranking::global;
  double overlay = 0.025;  ///< tew: share of W restored as single elements; at most the kept share
};

/// Up to G columns, and the kept rows of W, dense across all of them.
struct ColumnTile {
  std::vector<std::uint32_t> columns;  ///< ascending
  std::vector<std::uint32_t> rows;     ///< ascending
};

/// A kept element outside the tiles' rows.
struct Single {
  std::uint32_t row;
  std::uint32_t column;
};

struct TilePattern {
  std::vector<ColumnTile> tiles;
  std::size_t overlay_tiles = 0;  ///< the last tiles: pruned columns with single elements
  std::vector<Single> overlay;    ///< by column, then row
  std::uint64_t rounding = 0;     ///< maximum number of elements that are kept or pruned together

  /// Number of kept elements.
  [[nodiscard]] std::uint64_t kept() const;
  /// Calls visit(row, column) for each kept element.
  template <class Visit>
  void for_kept(const Visit& visit) const {
    for (const ColumnTile& tile : tiles)
      for (const std::uint32_t row : tile.rows)
        for (const std::uint32_t column : tile.columns) visit(row, column);
    for (const Single& single : overlay) visit(single.row, single.column);
  }
};

/// Keeps the rows (columns, elements) with the largest score, the root mean square or the
/// magnitude; the first of equals. Rows are kept until at least 1 - sparsity of the elements of W
/// are kept, with an excess below `rounding` elements. The authors' code divides the L2 norm of a
/// row by the width, which ranks rows of equal width alike, but keeps all rows of a narrow last
/// tile.
TilePattern prune(const DenseWeights& w, const Pruning& pruning);

void zero_pruned(const TilePattern& pattern, DenseWeights& w);

/// The dense W[k, n] before pruning, and its pruning.
struct WeightOptions {
  std::uint32_t k = 768;
  std::uint32_t n = 768;
  std::string matrix;  ///< a file instead of seeded values; its header gives k and n
  double spread = 0;
  Pruning pruning;
  program::Type dtype = program::Type::f16;
  std::uint64_t seed = 1;
};

/// Describes the keys of `weights` in `workload`. While reading, k and n are set to those of the
/// matrix file; contradictions are refused.
void describe(config::Fields& fields, WeightOptions& weights);

/// Short text: "768x768 tw_1d 0.75 f16", with a matrix file's name.
std::string problem_of(const WeightOptions& weights);

/// W before pruning, rounded to dtype. Throws UserError naming the file or key.
DenseWeights make_weights(const WeightOptions& weights);

}  // namespace tessera::spmm_tilewise
