#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gemm/shape.h"
#include "kernels/spmm_tilewise/overlay.h"
#include "kernels/spmm_tilewise/pattern.h"
#include "sim/machine/machine_config.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// How C[m, n] = A[m, k] W[k, n] with a tile-wise W is cut over tiles of the machine.
///
/// The matrix unit holds A: a panel is as many rows of A as it has columns, and a kept row of W is
/// one of its inputs, so that gathering rows of A^T makes its weights without moving an element
/// within a tile. The columns of W stream past: C^T of a panel is [column][row of the panel].
namespace tessera::spmm_tilewise {

using kernels::Interval;

/// Neighbouring columns of one column tile, which some machine tiles multiply.
struct Group {
  std::uint32_t tile;      ///< of the pattern
  gemm::Interval columns;  ///< in the column tile
  /// Of W: the kept ones, those of many single elements, and others to whole blocks; what of these
  /// is neither kept nor a single element has weight 0.
  std::vector<std::uint32_t> rows;
  OverlayPart overlay;

  [[nodiscard]] std::uint64_t positions() const { return columns.size(); }
};

/// A machine tile's share of a group.
struct Job {
  std::uint32_t group;
  std::uint32_t machine;  ///< tile
  gemm::Interval panels;
};

/// What a plan is made for.
struct Problem {
  std::uint32_t m;
  std::uint32_t k;
  std::uint32_t n;
  gemm::BlockShape block;

  [[nodiscard]] std::uint32_t panel_rows() const { return block.columns; }
  [[nodiscard]] std::uint32_t panels() const { return ceil_div(m, block.columns); }
  /// Rows of A^T and W as they are stored, to whole blocks of depth.
  [[nodiscard]] std::uint32_t padded_k() const { return round_up(k, block.depth); }
  /// Bytes of one row of A^T or column of C in a panel.
  [[nodiscard]] std::uint32_t vector_bytes() const { return block.result_bytes(); }
};

/// Largest over mean; 1 if there is nothing.
struct Imbalance {
  double mean = 0;
  double max = 0;
  [[nodiscard]] double ratio() const { return mean > 0 ? max / mean : 1; }
};

struct Plan {
  std::uint32_t parts;  ///< groups that a full column tile is cut into
  std::uint32_t cuts;   ///< supersteps in which a group's rows are loaded
  /// Single elements of a row of a column tile from which the row is multiplied whole; more than a
  /// tile has columns: never; 0: there are none.
  std::uint32_t row_singles;
  std::vector<Group> groups;
  std::vector<Job> jobs;  ///< by machine tile
  Prediction prediction;
  OverlayWork overlay_work;  ///< what workers' columns of single elements are cut by
  Imbalance cycles;          ///< predicted cycles of multiplication, over the machine's tiles
};

/// Cuts to use instead of searching; 0: chosen.
struct Pinned {
  std::uint32_t parts = 0;
  std::uint32_t cuts = 0;
  std::uint32_t row_singles = 0;
};

/// The plan of the fewest predicted cycles that fits. Machine tiles are given to groups in
/// proportion to their work. Throws UserError if none fits.
Plan make_plan(const Problem& problem, const TilePattern& pattern, MachineCosts& costs,
               const Pinned& pinned);

/// Kept rows of the column tiles; those of an overlay alone do not count.
Imbalance kept_rows(const TilePattern& pattern);

/// What a superstep loads of a group's rows, in blocks of depth.
inline gemm::Interval depth_blocks(const Group& group, const Problem& problem, std::uint32_t cuts,
                                   std::uint32_t cut) {
  return gemm::EvenSplit{group.rows.size() / problem.block.depth, cuts}.part(cut);
}

/// Its rows, whole blocks of them.
inline Interval rows_in(const Group& group, const Problem& problem, std::uint32_t cuts,
                        std::uint32_t cut) {
  const Interval depth = depth_blocks(group, problem, cuts, cut);
  return {depth.begin * problem.block.depth, depth.end * problem.block.depth};
}

}  // namespace tessera::spmm_tilewise
