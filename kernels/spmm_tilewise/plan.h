#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "kernels/sparse/code/statement.h"
#include "kernels/spmm_tilewise/overlay.h"
#include "sim/data/dense_operand.h"
#include "sim/program/workload.h"

/// How C[m, n] = A[m, k] W[k, n] with a tile-wise W is cut over tiles of the machine.
///
/// The matrix unit holds A: a panel is as many rows of A as it has columns, and a kept row of W is
/// one of its inputs, so that gathering rows of A^T makes its weights without moving an element
/// within a tile. The columns of W stream past: C^T of a panel is [column][row of the panel].
namespace tessera::spmm_tilewise {

/// A planner's input.
struct Problem {
  std::uint32_t m;
  gemm::BlockShape block;
  const DenseWeights& w;  ///< [k, n]
  const TilePattern& pattern;

  [[nodiscard]] std::uint32_t panels() const { return ceil_div(m, block.columns); }
  /// Rows of A^T and W as they are stored, to whole blocks of depth.
  [[nodiscard]] std::uint32_t padded_k() const { return round_up(w.rows, block.depth); }
  /// Bytes of one row of A^T or column of C in a panel.
  [[nodiscard]] std::uint32_t vector_bytes() const { return block.result_bytes(); }
};

/// Neighbouring columns of one column tile, which some machine tiles multiply.
struct Group {
  std::uint32_t tile;  ///< the pattern's column tile
  Interval columns;    ///< in the column tile
  /// Rows of W: the kept ones, those of many single elements, and others to whole blocks; elements
  /// of these that are neither kept nor single have weight 0.
  std::vector<std::uint32_t> rows;
  OverlayPart overlay;
  std::uint32_t first_job = 0, jobs = 0;  ///< jobs side by side share the panels evenly

  [[nodiscard]] std::uint64_t positions() const { return columns.size(); }
};

struct Job {
  std::uint32_t group;
  std::uint32_t machine;  ///< tile
  Interval panels;
};

/// Largest over mean; 1 if there is nothing.
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
  std::uint32_t parts;  ///< groups that a full column tile is cut into
  std::uint32_t cuts;   ///< supersteps in which a group's rows are loaded
  /// Single elements of a row of a column tile from which the row is multiplied whole; more than a
  /// tile has columns: never; 0: there are none.
  std::uint32_t row_singles;
  std::vector<Group> groups;
  std::vector<Job> jobs;     ///< by machine tile
  OverlayWork overlay_work;  ///< divides workers' columns of single elements
  Prediction prediction = {};
  Imbalance cycles = {};  ///< predicted cycles of multiplication, over the machine's tiles

  [[nodiscard]] std::span<const Job> jobs_on(std::uint32_t machine) const;
};

/// Cuts to use instead of searching; 0: chosen.
struct Pinned {
  std::uint32_t parts = 0;
  std::uint32_t cuts = 0;
  std::uint32_t row_singles = 0;
  kernels::Form unit = {};
};

/// Cycles that a group costs a machine tile: once, and for each panel.
struct GroupCost {
  std::uint64_t fixed;
  std::uint64_t panel;
};

/// Deals the panels of all groups to `tiles` machine tiles so that the largest cost is least. Where
/// there are enough, every group gets tiles of its own, in pairs if possible: both take the same
/// weights. Else a tile takes all panels of several groups.
std::vector<Job> assign(const std::vector<GroupCost>& costs, std::uint32_t panels,
                        std::uint32_t tiles);

/// The plan of the fewest predicted cycles that fits, of a problem with each of several blocks.
/// Machine tiles are given to groups in proportion to their work. Throws UserError if none fits.
std::shared_ptr<const Plan> make_plan(const std::vector<Problem>& problems, MachineCosts& costs,
                                      const Pinned& pinned);

/// Kept rows of the column tiles; those of an overlay alone do not count.
Imbalance kept_rows(const TilePattern& pattern);

using sparse::TileCode;

/// Where A or C lies: its panels of rows, each by columns.
EvenStorage panel_storage(const Problem& problem, std::uint32_t columns, std::uint32_t tiles);

/// Per superstep one exchange and one product; C is scattered at the end. `a` may be absent where
/// only time and memory are wanted. All arguments outlive the description.
plan::Description describe_program(const Problem& problem, std::shared_ptr<const Plan> plan,
                                   const MachineConfig& machine, const TileCode& code,
                                   const data::DenseOperand* a);

}  // namespace tessera::spmm_tilewise
