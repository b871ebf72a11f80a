#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/fields.h"
#include "sim/program/program.h"

/// Tile-wise pruning of a dense W[k, n] (Guo et al., SC'20, arXiv 2008.13006, 4): which rows of
/// each tile of G columns, which columns and which single elements are kept.
namespace tessera::spmm_tilewise {

/// W[k, n], row-major, rounded to the workload's dtype.
struct DenseWeights {
  std::uint32_t rows = 0;     ///< k
  std::uint32_t columns = 0;  ///< n
  std::vector<float> value;
  std::uint64_t rounded = 0;  ///< values of a file that the dtype does not have

  [[nodiscard]] float at(std::uint64_t row, std::uint64_t column) const {
    return value[row * columns + column];
  }
};

/// tw_1d: rows of tiles; tw_2d: whole columns first, then rows of tiles of the columns that are
/// left; tew: tw_2d, then single elements are given back.
enum class Method : std::uint8_t { tw_1d, tw_2d, tew };
/// Rows of tiles are ranked over all tiles, or within each one, so that all keep as many.
enum class Ranking : std::uint8_t { global, tile };

struct Pruning {
  Method method = Method::tw_1d;
  double sparsity = 0.75;           ///< share of the elements of W that is pruned
  std::uint32_t granularity = 128;  ///< G
  Ranking ranking = Ranking::global;
  double overlay = 0.025;  ///< tew: share of W given back as single elements; at most the kept
};

/// Up to G columns, and the rows of W that are kept in them, dense across all of them.
struct ColumnTile {
  std::vector<std::uint32_t> columns;  ///< ascending
  std::vector<std::uint32_t> rows;     ///< ascending
};

/// An element that is kept outside of the tiles' rows.
struct Single {
  std::uint32_t row;
  std::uint32_t column;
};

struct TilePattern {
  std::vector<ColumnTile> tiles;
  std::size_t overlay_tiles = 0;  ///< the last ones: pruned columns that have single elements
  std::vector<Single> overlay;    ///< by column, then row
  std::uint64_t rounding = 0;     ///< elements that are kept or pruned together, at most

  /// Elements that are kept.
  [[nodiscard]] std::uint64_t kept() const;
  /// Calls visit(row, column) for each of them.
  template <class Visit>
  void for_kept(const Visit& visit) const {
    for (const ColumnTile& tile : tiles)
      for (const std::uint32_t row : tile.rows)
        for (const std::uint32_t column : tile.columns) visit(row, column);
    for (const Single& single : overlay) visit(single.row, single.column);
  }
};

/// The rows (columns, elements) of the largest score stay: the root mean square, or the magnitude;
/// of equal ones the first. Rows stay until all that is kept is 1 - sparsity of the elements of W
/// or more, by less than `rounding` elements. The authors' code divides the L2 norm of a row by the
/// width, which ranks rows of equal width alike, but keeps all rows of a narrow last tile.
TilePattern prune(const DenseWeights& w, const Pruning& pruning);

void zero_pruned(const TilePattern& pattern, DenseWeights& w);

/// The dense W[k, n] before pruning, and how it is pruned.
struct WeightOptions {
  std::uint32_t k = 768;
  std::uint32_t n = 768;
  std::string matrix;  ///< a file instead of seeded values; its header gives k and n
  double spread = 0;
  Pruning pruning;
  program::Type dtype = program::Type::f16;
  std::uint64_t seed = 1;
};

/// The keys of `weights`; they stand flat in `workload`. While reading, k and n become those of the
/// matrix file; contradictions are refused.
void describe(config::Fields& fields, WeightOptions& weights);

/// In a few words: "768x768 tw_1d 0.75 f16", with a matrix file's name.
std::string problem_of(const WeightOptions& weights);

/// W before pruning, rounded to dtype. Throws UserError naming the file or key.
DenseWeights make_weights(const WeightOptions& weights);

}  // namespace tessera::spmm_tilewise
