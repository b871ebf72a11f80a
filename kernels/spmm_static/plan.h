#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sparse/block_matrix.h"
#include "sim/machine/machine_config.h"
#include "sim/program/workload.h"

/// How Y[m,n] = W[m,k] X[k,n], W sparse with its pattern known at build, is cut over tiles. Columns
/// of X and Y are cut into equal slices, rows of W into groups of about equal work; a tile computes
/// one row group of one slice from the rows of X that its nonzeros name. Leaves out: bands over k
/// with a reduction, blocks.
namespace tessera::spmm_static {

/// Bytes of X or Y that one pass of the inner loop handles: two 64-bit registers.
constexpr std::uint32_t kPassBytes = 16;

/// Where one worker of a tile works: a rectangle of rows and column passes.
struct WorkerShare {
  std::uint32_t first_row;  ///< within the tile's row group
  std::uint32_t rows;
  std::uint32_t first_pass;  ///< in units of kPassBytes
  std::uint32_t passes;
};

/// One row group of W, shared by the tiles of all column slices.
struct RowGroup {
  std::uint32_t first_row;
  std::uint32_t rows;
  std::vector<std::uint32_t>
      needed;                        ///< rows of X (columns of W) that its nonzeros name, ascending
  std::vector<WorkerShare> workers;  ///< one a worker context
};

struct Plan {
  std::uint32_t slices;         ///< cuts of n
  std::uint32_t slice_columns;  ///< columns a slice, padding included: a whole number of passes
  std::vector<RowGroup> groups;
  Prediction prediction;

  [[nodiscard]] std::uint32_t tiles() const {
    return slices * static_cast<std::uint32_t>(groups.size());
  }
  /// Tile of a row group and slice: the slices of one group are neighbours.
  [[nodiscard]] TileId tile(std::uint32_t group, std::uint32_t slice) const {
    return TileId(group * slices + slice);
  }
};

/// The cuts a user may pin; 0: chosen by the search.
struct Pinned {
  std::uint32_t slices = 0;
  std::uint32_t groups = 0;
};

/// Slots of one worker of the codelet with dual issue: `rows` rows with `entries` nonzeros together
/// in `passes` column passes. Rows of fewer than two nonzeros take fewer.
std::uint64_t worker_slots(std::uint64_t rows, std::uint64_t entries, std::uint64_t passes);

/// Searches slices and groups for the fewest predicted cycles among those that fit the tiles' SRAM
/// and the 16-bit indices. `element_bytes`: 2 or 4. Throws UserError if nothing fits.
Plan make_plan(const sparse::BlockMatrix& w, std::uint32_t n, std::uint32_t element_bytes,
               const MachineConfig& machine, const Pinned& pinned);

}  // namespace tessera::spmm_static
