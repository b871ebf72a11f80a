#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "kernels/sparse/code/statement.h"
#include "kernels/spmm_tilewise/overlay.h"
#include "sim/data/dense_operand.h"
#include "sim/program/workload.h"

/// Partition of C[m, n] = A[m, k] W[k, n] with a tile-wise W over the machine's tiles.
///
/// The matrix unit holds A: a panel has as many rows of A as the unit has columns, and each kept
/// row of W is one input, so that gathering rows of A^T makes the weights without moving elements
/// within a tile. The columns of W are streamed: C^T of a panel is [column][row of the panel].
namespace tessera::spmm_tilewise {

/// A planner's input.
struct Problem {
  std::uint32_t m;
  gemm::BlockShape block;
  const DenseWeights& w;  ///< [k, n]
  const TilePattern& pattern;

  [[nodiscard]] std::uint32_t panels() const { return ceil_div(m, block.columns); }
  /// Rows of A^T and W as stored, padded to whole blocks of depth.
  [[nodiscard]] std::uint32_t padded_k() const { return round_up(w.rows, block.depth); }
  /// Bytes of one row of A^T or column of C in a panel.
  [[nodiscard]] std::uint32_t vector_bytes() const { return block.result_bytes(); }
};

/// Consecutive columns of one column tile, multiplied by the same machine tiles.
struct Group {
  std::uint32_t tile;  ///< the pattern's column tile
  Interval columns;    ///< in the column tile
  /// Rows of W: the kept ones, those with many single elements, and padding to whole blocks;
  /// elements of these rows that are neither kept nor single have weight 0.
  std::vector<std::uint32_t> rows;
  OverlayPart overlay;
  std::uint32_t first_job = 0, jobs = 0;  ///< consecutive jobs share the panels evenly

  [[nodiscard]] std::uint64_t positions() const { return columns.size(); }
};

struct Job {
  std::uint32_t group;
  std::uint32_t machine;  ///< machine tile
  Interval panels;
};

/// Mean, maximum and their ratio; 1 if empty.
struct Imbalance {
  double mean = 0;
  double max = 0;
  [[nodiscard]] double ratio() const { return mean > 0 ? max / mean : 1; }

  static Imbalance of(const std::vector<std::uint64_t>& each) {
    Imbalance all;
    for (const std::uint64_t one : each) {
      all.mean += static_cast<double>(one) / static_cast<double>(each.size());
      all.max = std::max(all.max, static_cast<double>(one));
    }
    return all;
  }
};

struct Plan {
  gemm::BlockShape block;
  std::uint32_t parts;  ///< number of groups that share a full column tile
  std::uint32_t cuts;   ///< supersteps in which a group's rows are loaded
  /// Number of single elements in a row of a column tile from which the row is multiplied whole;
  /// above the columns of a tile: never; 0: there are none.
  std::uint32_t row_singles;
  std::vector<Group> groups;
  std::vector<Job> jobs;     ///< by machine tile
  OverlayWork overlay_work;  ///< for dividing the columns of single elements among workers
  Prediction prediction = {};
  Imbalance cycles = {};  ///< predicted cycles of multiplication, over the machine's tiles

  [[nodiscard]] std::span<const Job> jobs_on(std::uint32_t machine) const;
};

/// Pinned cuts; 0: chosen.
struct Pinned {
  std::uint32_t parts = 0;
  std::uint32_t cuts = 0;
  std::uint32_t row_singles = 0;
  kernels::Form unit = {};
};

/// Cycles of a group on a machine tile: fixed, and for each panel.
struct GroupCost {
  std::uint64_t fixed;
  std::uint64_t panel;
};

/// Assigns the panels of all groups to `tiles` machine tiles and minimises the largest cost. If
/// there are enough tiles, every group gets its own tiles, in pairs if possible, since both tiles
/// of a pair receive the same weights; else a tile takes all panels of several groups.
std::vector<Job> assign(const std::vector<GroupCost>& costs, std::uint32_t panels,
                        std::uint32_t tiles);

/// The plan with the fewest predicted cycles that fits, for a problem with each of several blocks.
/// Groups get machine tiles in proportion to their work. Throws UserError if none fits.
std::shared_ptr<const Plan> make_plan(const std::vector<Problem>& problems, MachineCosts& costs,
                                      const Pinned& pinned);

/// Kept rows of the column tiles; tiles with an overlay alone do not count.
Imbalance kept_rows(const TilePattern& pattern);

using sparse::TileCode;

/// Storage of A or C: panels of rows, each by columns.
EvenStorage panel_storage(const Problem& problem, std::uint32_t columns, std::uint32_t tiles);

/// Each superstep has one exchange and one product; C is scattered at the end. `a` may be absent
/// for estimates of time and memory. All arguments must outlive the description.
plan::Description describe_program(const Problem& problem, std::shared_ptr<const Plan> plan,
                                   const MachineConfig& machine, const TileCode& code,
                                   const data::DenseOperand* a);

}  // namespace tessera::spmm_tilewise
