#pragma once

#include <memory>

#include "kernels/sparse/code/relayout.h"
#include "kernels/spmm_dynamic/plan.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/description.h"

/// The program of a product, said once for all tiles.
namespace tessera::spmm_dynamic {

using plan::Tile;

/// Each cell's parts of the operands and the results.
struct Parts {
  Parts(const Problem& of, const PoolShape& in) : problem(of), pool(in), bytes(of, in) {}

  const Problem problem;
  const PoolShape pool;
  const Buffers bytes;

  [[nodiscard]] const Shape& shape() const { return pool.shape; }
  [[nodiscard]] const Grid& grid() const { return pool.grid; }
  [[nodiscard]] Cell cell(Tile tile) const { return grid().cell(tile); }
  /// True if results are brought to rows.
  [[nodiscard]] bool rows_wanted() const { return shape().natural() && !shape().gradient; }
  /// Columns of X with padding.
  [[nodiscard]] std::uint64_t width() const { return std::uint64_t{grid().columns} * grid().z; }

  /// Chunks of partial results that a cell adds up.
  [[nodiscard]] Interval share(const Cell& of) const { return bytes.share(of.y, of.z); }
  [[nodiscard]] std::uint32_t result_bytes(const Cell& of) const {
    return word(share(of).size()) * (shape().mixed() ? kChunkBytes / 2 : kChunkBytes);
  }
  /// Its part of X, of Yg and of the results.
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
  /// Layout natural: the cell that has an element of Y.
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

/// The times of what data decide, for estimates.
struct Decided {
  std::uint64_t own = 0;      ///< cycles of a product with the pool that lies on the tile
  std::uint64_t spilled = 0;  ///< cycles of a product after a step, on average
  std::uint32_t y_steps = 0;  ///< that the pools travel
  std::uint32_t x_steps = 0;
};

/// Contents of the tiles before a run; operands that it refers to outlive the program.
struct Given {
  const data::DenseOperand* x = nullptr;
  const data::DenseOperand* yg = nullptr;
  /// The lists and values that the tiles of a partition hold together.
  std::function<std::vector<std::byte>(std::uint32_t run, std::uint32_t partition)> pool;
};

/// States the program; without `given` only its time and memory can be read. Returns the array of
/// results.
BufferId state_program(plan::Description& description, const Parts& parts,
                       const sparse::TileCode& code, const Decided& decided,
                       const std::shared_ptr<const Given>& given);

/// Turns of a loop of two steps each that take pools home which went `steps` on, of `length` tiles
/// around.
inline std::uint32_t turns_home(std::uint32_t steps, std::uint32_t length) {
  return steps % (length % 2 == 0 ? length : 2 * length) / 2;
}

/// The tiles that differ: the fullest, and one whose pair is divided.
std::vector<Tile> representatives(const Grid& grid);

// Where a product's operands, pools and results lie, and what tiles pull of them.

/// Words of a cell's flags.
enum class Flag : std::uint8_t {
  spilled,       ///< a sub-group of the pool here is not done
  spilled_here,  ///< one that is for this part of the rows
  away_along_y,  ///< the pool here is another partition's
  away_along_x
};

/// The state of functions of steps: the parts and where they lie.
struct Arrays : Parts {
  explicit Arrays(const Parts& parts) : Parts(parts) {}

  BufferId bucket{}, pools[2]{};  ///< the pools travel from the one to the other
  BufferId flags{};
  BufferId x_slice{}, x{};  ///< rows of X
  BufferId y_slice{}, y{};  ///< rows of Yg, or partial results
  BufferId received{};      ///< partial results of others
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
  /// Buckets of the partition, rows of X (of Yg) that the tile needs.
  void pull_operands(Tile tile, Pulls& pulls) const;
  /// The tile's share of the others' partial results; sums of one part are results as they are.
  void pull_partials(Tile tile, Pulls& pulls) const;
};

}  // namespace tessera::spmm_dynamic
