#pragma once

#include <functional>
#include <optional>

#include "kernels/spmm_dynamic/bucket.h"
#include "sim/machine/machine_config.h"
#include "sim/program/workload.h"

/// Partition over tiles of a product with a W of at most a given number of nonzeros, for any
/// pattern.
namespace tessera::spmm_dynamic {

constexpr std::uint32_t kChunkBytes = 16;  ///< bytes of sums that tiles and workers never share
constexpr std::uint32_t kFlagBytes = 16;   ///< bytes of a tile's flags
constexpr std::uint32_t kFlagWord = 4;     ///< bytes of each flag

/// The planner: the patterns that it expects, and their capacity.
enum class Algorithm : std::uint8_t {
  published,  ///< even patterns without spills; products with W and W^T in turn
  best        ///< the given patterns: their partitions and steps
};

struct Problem;
/// Minimum capacity in words of the lists of each bucket.
using ListRoom = std::function<std::uint64_t(const Problem&, const PoolShape&)>;

/// The planner's input, known when the program is built.
struct Problem {
  Shape shape;
  std::uint32_t block_rows;  ///< block rows of the multiplied matrix: W, in grad_input W^T
  std::uint32_t block_columns;
  std::uint32_t n;           ///< columns of X
  std::uint64_t max_blocks;  ///< maximum number of blocks of W
  double headroom;           ///< extra capacity of the buckets, relative to an even share
  double memory = 1;         ///< share of a tile's memory that the plan may use
  bool transposed = false;   ///< grad_input: W^T is multiplied
  Region region = Region::all;
  ListRoom list_room = {};  ///< extra capacity for lists
};

/// Pinned cuts; 0: chosen.
struct Pinned {
  Algorithm algorithm = Algorithm::best;
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
  /// Further keys of a printed plan: they follow from the others and are refused if they contradict
  /// them.
  std::uint32_t columns = 0;
  std::uint64_t max_blocks = 0;
  std::uint64_t bucket_blocks = 0;
  std::uint64_t pool_bytes = 0;
  std::optional<Neighbours> pairs = std::nullopt;  ///< a planned value; none: chosen
  kernels::Form unit = {};                         ///< form of block products; none: chosen
};

struct Plan {
  PoolShape pool;
  std::uint64_t bucket_blocks = 0;  ///< capacity of one tile
  Prediction prediction;            ///< of one run, for the expected patterns
};

/// Bytes of buffers on the fullest tile.
struct Buffers {
  explicit Buffers(const Problem& problem, const PoolShape& pool);

  std::uint32_t meta;         ///< the lists of a pool, rounded so that its tiles share them evenly
  std::uint32_t pool;         ///< lists and values (grad_values: and partial sums)
  std::uint32_t pool_slice;   ///< on each of the z tiles before the run
  std::uint32_t x;            ///< rows of X
  std::uint32_t x_slice;      ///< on each of the x tiles before the run
  std::uint32_t y;            ///< grad_values: rows of Yg; else partial results
  std::uint32_t y_slice;      ///< grad_values: as x_slice, on the y tiles; else 0
  std::uint32_t parts;        ///< number of parts of the results' sums
  std::uint32_t chunks;       ///< 16-byte chunks of all partial results
  bool values;                ///< partial results are those of a pool
  std::uint32_t x_grain;      ///< indivisible words of X
  std::uint32_t chunk_grain;  ///< indivisible chunks of sums
  /// The chunks that cell (x, y, z) adds.
  [[nodiscard]] Interval share(std::uint32_t part_y, std::uint32_t part_z) const {
    return cut(chunks, chunk_grain, parts, values ? part_z : part_y);
  }
  /// The part that adds the partial result at this byte.
  [[nodiscard]] std::uint32_t holder(std::uint64_t byte) const {
    return word(EvenSplit{chunks / chunk_grain, parts}.holder(byte / kChunkBytes / chunk_grain));
  }
  /// Chunks of the largest part.
  [[nodiscard]] std::uint32_t part_chunks() const {
    return ceil_div(chunks / chunk_grain, parts) * chunk_grain;
  }
  /// Words of the rows of X (of Yg) that tile `part` of `parts_of` holds before the exchange.
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

/// Lists and values that the tiles of a partition together hold before a run.
std::vector<std::byte> pool_bytes(const Buffers& sizes, const PoolShape& shape,
                                  const sparse::BlockMatrix& w, const Packing& packing,
                                  std::uint32_t partition);

/// The pools of a grid; their capacity follows from the problem and its planner.
PoolShape pool_of(const Problem& problem, const Grid& grid, std::uint32_t contexts);
/// Storage of a dense matrix of `block_rows` block rows in layout natural.
EvenStorage row_storage(const Problem& problem, const Grid& grid, std::uint32_t block_rows);
/// Capacity in blocks of one tile's bucket.
std::uint64_t bucket_blocks(const Problem& problem, const Grid& grid);

class Pricer;
using Patterns = std::vector<sparse::BlockMatrix>;

/// The grid with the fewest cycles that the planner expects, of those that fit. Throws UserError if
/// none fits.
Plan make_plan(const Problem& problem, const Pinned& pinned, Pricer& pricer,
               const Patterns& patterns);

}  // namespace tessera::spmm_dynamic
