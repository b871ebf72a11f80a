#pragma once

#include <functional>
#include <optional>

#include "kernels/spmm_dynamic/bucket.h"
#include "sim/machine/machine_config.h"
#include "sim/program/workload.h"

/// How a product with a W of at most so many nonzeros is cut over tiles, whatever its pattern.
namespace tessera::spmm_dynamic {

constexpr std::uint32_t kChunkBytes = 16;  ///< bytes of sums that tiles and workers do not share
constexpr std::uint32_t kFlagBytes = 16;   ///< bytes of a tile's flags
constexpr std::uint32_t kFlagWord = 4;     ///< bytes of each flag

/// Who plans: what is expected of patterns, and what room they get.
enum class Algorithm : std::uint8_t {
  published,  ///< even patterns, of which nothing spills; products with W and W^T in turn
  best        ///< the very patterns that are given: their partitions and steps
};

struct Problem;
/// Words that the lists of each bucket of a pool have room for at least.
using ListRoom = std::function<std::uint64_t(const Problem&, const PoolShape&)>;

/// The planner's input, known when the program is built.
struct Problem {
  Shape shape;
  std::uint32_t block_rows;  ///< block rows of the W that is multiplied (grad_input: of W^T)
  std::uint32_t block_columns;
  std::uint32_t n;           ///< columns of X
  std::uint64_t max_blocks;  ///< the most blocks of W
  double headroom;           ///< room of the buckets beyond an even share, relative
  double memory = 1;         ///< share of a tile's memory that the plan may use
  bool transposed = false;   ///< grad_input: what is multiplied is W^T
  Region region = Region::all;
  ListRoom list_room = {};  ///< more room for lists than these need
};

/// Cuts to use instead of searching; 0: chosen.
struct Pinned {
  Algorithm algorithm = Algorithm::best;
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
  /// Further keys of a printed plan: they follow from the rest, and are refused where they do not.
  std::uint32_t columns = 0;
  std::uint64_t max_blocks = 0;
  std::uint64_t bucket_blocks = 0;
  std::uint64_t pool_bytes = 0;
  std::optional<Neighbours> pairs = std::nullopt;  ///< one of those that are planned; none: chosen
  kernels::Form unit = {};                         ///< form of block products; none: chosen
};

struct Plan {
  PoolShape pool;
  std::uint64_t bucket_blocks = 0;  ///< room of one tile
  Prediction prediction;            ///< as the planner expects patterns, of one run
};

/// Bytes of buffers on the fullest tile, by what they hold.
struct Buffers {
  explicit Buffers(const Problem& problem, const PoolShape& pool);

  std::uint32_t meta;         ///< the lists of a pool, rounded so that its tiles share it evenly
  std::uint32_t pool;         ///< lists and values (grad_values: and partial sums)
  std::uint32_t pool_slice;   ///< that each of the z tiles holds before the run
  std::uint32_t x;            ///< rows of X
  std::uint32_t x_slice;      ///< that each of the x tiles holds before the run
  std::uint32_t y;            ///< grad_values: rows of Yg; else partial results
  std::uint32_t y_slice;      ///< grad_values: as x_slice, of the y tiles; else 0
  std::uint32_t parts;        ///< over which results are added up
  std::uint32_t chunks;       ///< chunks of 16 bytes of partial results in all
  bool values;                ///< partial results are those of a pool
  std::uint32_t x_grain;      ///< words of X that are not cut
  std::uint32_t chunk_grain;  ///< chunks of sums that are not cut
  /// The chunks that cell (x, y, z) adds up.
  [[nodiscard]] Interval share(std::uint32_t part_y, std::uint32_t part_z) const {
    return cut(chunks, chunk_grain, parts, values ? part_z : part_y);
  }
  /// The part that adds up the partial result at this byte.
  [[nodiscard]] std::uint32_t holder(std::uint64_t byte) const {
    return word(EvenSplit{chunks / chunk_grain, parts}.holder(byte / kChunkBytes / chunk_grain));
  }
  /// Chunks of the largest of the parts.
  [[nodiscard]] std::uint32_t part_chunks() const {
    return ceil_div(chunks / chunk_grain, parts) * chunk_grain;
  }
  /// Words of the rows of X (of Yg) that tile `part` of `parts_of` holds before they are shared.
  [[nodiscard]] Interval x_part(std::uint32_t parts_of, std::uint32_t part) const {
    return cut(x / kWord, x_grain, parts_of, part);
  }
  [[nodiscard]] Interval y_part(std::uint32_t parts_of, std::uint32_t part) const {
    return cut(y / kWord, 1, parts_of, part);
  }

 private:
  static Interval cut(std::uint64_t all, std::uint64_t grain, std::uint32_t into,
                      std::uint32_t part) {
    const Interval grains = EvenSplit{all / grain, into}.part(part);
    return {grains.begin * grain, grains.end * grain};
  }
};

/// The lists and values that the tiles of a partition hold together before a run.
std::vector<std::byte> pool_bytes(const Buffers& sizes, const PoolShape& shape,
                                  const sparse::BlockMatrix& w, const Packing& packing,
                                  std::uint32_t partition);

/// The pools of a grid: their room follows from the problem, and from whose planner it is.
PoolShape pool_of(const Problem& problem, const Grid& grid, std::uint32_t contexts);
/// Where a dense matrix of so many block rows lies in layout natural, by rows.
EvenStorage row_storage(const Problem& problem, const Grid& grid, std::uint32_t block_rows);
/// Blocks that a bucket of one tile has room for.
std::uint64_t bucket_blocks(const Problem& problem, const Grid& grid);

class Pricer;
using Patterns = std::vector<sparse::BlockMatrix>;

/// The grid of the fewest cycles, as the planner expects them, among those that fit. Throws
/// UserError if none fits.
Plan make_plan(const Problem& problem, const Pinned& pinned, Pricer& pricer,
               const Patterns& patterns);

}  // namespace tessera::spmm_dynamic
