#pragma once

#include <memory>

#include "kernels/codelet.h"
#include "kernels/gemm/vector_product.h"
#include "kernels/stored.h"
#include "sim/plan/search.h"

/// Products of types with vectors on tiles that exchange with each other. A tile has one tile of C;
/// its panels of A and its columns of B come step by step, one superstep each, multicast to all who
/// need them. Workers of a tile share its patches. The depth may be parted among several tiles,
/// which add up their sums at last, each of its share of C.
namespace tessera::gemm {

using plan::Tile;

/// The search of vector_plan(): numbers of parts of m and n, and of steps.
Searched search_tiles(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks);

/// Workers side by side along the rows of a tile of C: so that the fullest has fewest patches.
std::uint32_t rows_of_workers(std::uint32_t parts, std::uint32_t patches, std::uint32_t contexts);
/// The workers' product. Sizes: the most that a worker has of parts, of patches, and of pairs of
/// steps beyond the fewest that a call has (kept blocks: pairs of all its patches beyond one each).
plan::Function call_of(const kernels::Codelet& code, const VectorType& type, const Patch& patch,
                       bool kept, Begins begins, Ends ends);

/// The workers' addition of sums of parts of the depth. Sizes: accumulators, and parts less one.
/// Operands: the parts, one behind the other, and C.
plan::Function sum_of(const kernels::Codelet& code, const VectorType& type, std::uint32_t shift);

/// A worker's share of a tile of C: parts of its rows and patches of its columns.
struct Share {
  Interval parts, patches;
};

/// A product on tiles: what its description's functions keep.
class TiledProduct : public std::enable_shared_from_this<TiledProduct> {
 public:
  TiledProduct(VectorProduct of, const MachineConfig& machine)
      : of_(std::move(of)),
        grid_(of_.grid),
        type_(*grid_.type),
        tile_(grid_.plan.tile()),
        contexts_(machine.tile.contexts),
        parts_(tile_.rows / grid_.patch.rows),
        patches_(tile_.columns / column_unit(type_, grid_.patch)),
        worker_rows_(rows_of_workers(parts_, patches_, contexts_)) {
    for (Tile column = 0; column < (grid_.kept ? grid_.plan.array_columns : 1); ++column)
      worker_ends_.push_back(columns_of_workers(column));
  }
  TiledProduct(const TiledProduct&) = delete;
  TiledProduct& operator=(const TiledProduct&) = delete;

  [[nodiscard]] const VectorGrid& grid() const { return grid_; }
  /// Tiles that have a part of the depth, and all.
  [[nodiscard]] Tile tiles_of_part() const {
    return grid_.plan.array_rows * grid_.plan.array_columns;
  }
  [[nodiscard]] Tile tiles() const { return tiles_of_part() * grid_.parts; }
  /// Bytes of C that a tile ends with: all of its own or, of parts of the depth, a share.
  [[nodiscard]] std::uint64_t c_bytes(Tile tile) const { return ended(tile).size() * kResultBytes; }
  /// Tiles that stand for all: in some steps one that computes most, those whose pair is divided,
  /// and the last.
  [[nodiscard]] std::vector<Tile> stand_for_all() const;

  /// A and B as all tiles hold them: panels of a patch's rows or columns, step by step; of kept
  /// blocks tile by tile.
  [[nodiscard]] kernels::Stored stored_a(plan::Description& d) const;
  [[nodiscard]] kernels::Stored stored_b(plan::Description& d) const;
  /// The lists of a tile's kept blocks, step by step: it has them from the beginning.
  [[nodiscard]] Place lists(plan::Description& d) const;
  [[nodiscard]] std::uint64_t b_buffer_bytes() const {
    if (!grid_.kept) return tile_.b_bytes(type_);
    return b_unit() + std::uint64_t{2} * kept_bytes(type_);  // tile code reads ahead
  }
  void pull_a(const kernels::Stored& a, Place into, Tile tile, std::uint32_t step,
              Pulls& pulls) const;
  void pull_b(const kernels::Stored& b, Place into, Tile tile, std::uint32_t step,
              Pulls& pulls) const;
  /// The workers' shares of a tile's product, whose operands are given as if one worker did all of
  /// it.
  [[nodiscard]] std::vector<CoreProduct> workers(const CoreProduct& whole, Tile tile,
                                                 std::uint32_t step) const;
  /// Bytes of A and B that a tile sends in a step, for estimates.
  [[nodiscard]] std::uint64_t sent(const kernels::Stored& a, const kernels::Stored& b,
                                   Tile tile) const {
    return ceil_div(std::uint64_t{a.bytes_on(tile)} + b.bytes_on(tile), std::uint64_t{grid_.steps});
  }
  /// A tile's pulls of its share of all parts' sums, part by part, which add_up() adds up.
  void pull_sums(Place sums, Place into, Tile tile, Pulls& pulls) const;
  void add_up(const plan::Function& sum, Place parts, Place into, Tile tile, Calls& calls) const;
  /// Sizes, as call_of() says, of the worker that has most to do.
  [[nodiscard]] Sizes sizes(Tile tile, std::uint32_t step) const;
  /// Where the numbers of a tile of C belong.
  void add_runs(Tile tile, program::Runs& runs) const;

 private:
  [[nodiscard]] std::uint32_t row_of(Tile tile) const {
    return tile % tiles_of_part() / grid_.plan.array_columns;
  }
  [[nodiscard]] std::uint32_t column_of(Tile tile) const { return tile % grid_.plan.array_columns; }
  /// Number of a step of a tile among those of all parts of the depth.
  [[nodiscard]] std::uint32_t step_of(Tile tile, std::uint32_t step) const {
    return tile / tiles_of_part() * grid_.steps + step;
  }
  [[nodiscard]] std::uint64_t all_steps() const { return grid_.k / type_.inputs; }
  [[nodiscard]] CoreTile patch() const {
    return {grid_.patch.rows, column_unit(type_, grid_.patch), tile_.depth};
  }
  /// Accumulators, in the order of sums, that a tile adds up and ends with.
  [[nodiscard]] Interval ended(Tile tile) const {
    const std::uint64_t all =
        std::uint64_t{parts_} * patches_ * patch().sum_bytes(type_) / kSumBytes;
    return EvenSplit{all, grid_.parts}.part(tile / tiles_of_part());
  }
  /// Bytes of a step of a panel; of kept blocks of a tile of B.
  [[nodiscard]] std::uint32_t a_unit() const {
    return grid_.patch.rows * type_.inputs * type_.bytes;
  }
  [[nodiscard]] std::uint32_t b_unit() const {
    if (grid_.kept) return grid_.kept->block_bytes();
    return column_unit(type_, grid_.patch) * type_.inputs * type_.bytes;
  }
  void pull_panels(const kernels::Stored& from, std::uint32_t unit, Interval panels, Place into,
                   std::uint32_t number, Pulls& pulls) const;
  void write_a(std::uint64_t unit, std::span<std::byte> into) const;
  void write_b(std::uint64_t unit, std::span<std::byte> into) const;
  [[nodiscard]] std::uint32_t pairs(std::uint32_t column, std::uint32_t step,
                                    const Interval& patches) const;
  [[nodiscard]] std::vector<std::uint64_t> columns_of_workers(std::uint32_t column) const;
  [[nodiscard]] std::vector<Share> shares(Tile tile) const;

  VectorProduct of_;
  const VectorGrid& grid_;
  const VectorType& type_;
  CoreTile tile_;
  std::uint32_t contexts_;
  std::uint32_t parts_, patches_;  ///< per tile of C
  std::uint32_t worker_rows_;
  /// By column of tiles, or for all: where the patches of each worker of a row end.
  std::vector<std::vector<std::uint64_t>> worker_ends_;
};

/// A and B are held by all tiles evenly, in the order in which tile code reads them: A by panels of
/// a patch's rows, B by those of a patch's columns or, of kept blocks, by tiles. C stays where it
/// is made.
plan::Described describe_tiles(const VectorProduct& of, const MachineConfig& machine);
program::Program make_tiled_program(const VectorProduct& of, const MachineConfig& machine);

}  // namespace tessera::gemm
