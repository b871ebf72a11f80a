#pragma once

#include <memory>

#include "kernels/sparse/code/relayout.h"
#include "kernels/spmm_dynamic/plan.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/description.h"

/// The program of a product, described once for all tiles.
namespace tessera::spmm_dynamic {

using plan::Tile;

/// Each cell's parts of operands and results.
struct Parts {
  Parts(const Problem& of, const PoolShape& in) : problem(of), pool(in), bytes(of, in) {}

  const Problem problem;
  const PoolShape pool;
  const Buffers bytes;

  [[nodiscard]] const Shape& shape() const { return pool.shape; }
  [[nodiscard]] const Grid& grid() const { return pool.grid; }
  [[nodiscard]] Cell cell(Tile tile) const { return grid().cell(tile); }
  /// True if results are converted to rows.
  [[nodiscard]] bool rows_wanted() const { return shape().natural() && !shape().gradient; }
  /// Number of columns of X, with padding.
  [[nodiscard]] std::uint64_t width() const { return std::uint64_t{grid().columns} * grid().z; }

  /// Chunks of partial results that a cell adds.
  [[nodiscard]] Interval share(const Cell& of) const { return bytes.share(of.y, of.z); }
  [[nodiscard]] std::uint32_t result_bytes(const Cell& of) const {
    return word(share(of).size()) * (shape().mixed() ? kChunkBytes / 2 : kChunkBytes);
  }
  /// A cell's part of X, of Yg and of the results.
  [[nodiscard]] sparse::Chunked x_part(const Cell& of) const {
    return part(elements(bytes.x_part(grid().x, of.x), shape().lanes()), shape().x_depth(), of,
                rows(problem.block_columns, grid().y, of.y));
  }
  [[nodiscard]] sparse::Chunked yg_part(const Cell& of) const {
    return part(elements(bytes.y_part(grid().y, of.y), shape().lanes()), 1, of,
                rows(problem.block_rows, grid().x, of.x));
  }
  [[nodiscard]] sparse::Chunked result_part(const Cell& of) const {
    return part(elements(share(of), kChunkBytes / shape().partial_bytes()), shape().y_depth(), of,
                rows(problem.block_rows, grid().x, of.x));
  }
  /// Layout natural: the cell that holds an element of Y.
  [[nodiscard]] Cell holder(std::uint64_t row, std::uint64_t column) const {
    const EvenSplit blocks{problem.block_rows, grid().x};
    const std::uint64_t x = blocks.holder(row / shape().block);
    const std::uint64_t local = row - blocks.begin(x) * shape().block;
    const std::uint64_t depth = shape().y_depth();
    const std::uint64_t element =
        (local / depth * grid().columns + column % grid().columns) * depth + local % depth;
    return {word(x), bytes.holder(element * shape().partial_bytes()),
            word(column / grid().columns)};
  }

 private:
  static Interval elements(Interval of, std::uint64_t each) {
    return {of.begin * each, of.end * each};
  }
  [[nodiscard]] Interval rows(std::uint32_t block_rows, std::uint32_t into,
                              std::uint32_t number) const {
    return elements(EvenSplit{block_rows, into}.part(number), shape().block);
  }
  [[nodiscard]] sparse::Chunked part(Interval elements, std::uint32_t depth, const Cell& of,
                                     Interval of_rows) const {
    return {elements, depth, grid().columns, of_rows, std::uint64_t{of.z} * grid().columns,
            width()};
  }
};

/// Data-dependent times, for estimates.
struct DataTimes {
  std::uint64_t own = 0;      ///< cycles of a product with the tile's own pool
  std::uint64_t spilled = 0;  ///< mean cycles of a product after a step
  std::uint32_t y_steps = 0;  ///< steps of the pools along y
  std::uint32_t x_steps = 0;
};

/// Contents of the tiles before a run; the operands must outlive the program.
struct Given {
  const data::DenseOperand* x = nullptr;
  const data::DenseOperand* yg = nullptr;
  /// Lists and values that the tiles of a partition hold together.
  std::function<std::vector<std::byte>(std::uint32_t run, std::uint32_t partition)> pool;
};

/// States the program; without `given` it only serves estimates of time and memory. Returns the
/// array of results.
BufferId state_program(plan::Description& description, const Parts& parts,
                       const sparse::TileCode& code, const DataTimes& decided,
                       const std::shared_ptr<const Given>& given);

/// Iterations of a loop of two steps each that return pools home after `steps` steps, on a ring of
/// `length` tiles.
inline std::uint32_t turns_home(std::uint32_t steps, std::uint32_t length) {
  return steps % (length % 2 == 0 ? length : 2 * length) / 2;
}

/// Representative tiles: the fullest, and one whose pair is divided.
std::vector<Tile> representatives(const Grid& grid);

// Storage of a product's operands, pools and results, and the pulls of tiles.

/// Words of a cell's flags.
enum class Flag : std::uint8_t {
  spilled,       ///< a sub-group of the local pool is not done
  spilled_here,  ///< such a sub-group belongs to this part of the rows
  away_along_y,  ///< the local pool is another partition's
  away_along_x
};

/// State of the steps' functions: parts and arrays.
struct Arrays : Parts {
  explicit Arrays(const Parts& parts) : Parts(parts) {}

  BufferId bucket{}, pools[2]{};  ///< pools travel from one to the other
  BufferId flags{};
  BufferId x_slice{}, x{};  ///< rows of X
  BufferId y_slice{}, y{};  ///< rows of Yg, or partial results
  BufferId received{};      ///< partial results received from others
  BufferId results{};       ///< results of the tile's share
  std::shared_ptr<const Given> given;

  [[nodiscard]] const data::DenseOperand* operand(const data::DenseOperand* Given::*which) const {
    return given == nullptr ? nullptr : (*given).*which;
  }
  [[nodiscard]] Place flag(Flag which) const {
    return {flags, kFlagWord * static_cast<std::uint32_t>(which)};
  }
  [[nodiscard]] Place partial(std::uint64_t chunk) const {
    const std::uint32_t at = word(chunk) * kChunkBytes;
    return shape().gradient ? Place{pools[0], bytes.meta + at} : Place{y, at};
  }

  void fill_bucket(Tile tile, std::uint32_t run, std::span<std::byte> into) const;
  /// Pulls the buckets of the partition and the rows of X (of Yg) that the tile needs.
  void pull_operands(Tile tile, Pulls& pulls) const;
  /// Pulls the tile's share of the others' partial results; with one part the sums are the results.
  void pull_partials(Tile tile, Pulls& pulls) const;
};

}  // namespace tessera::spmm_dynamic
