#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/codelet.h"
#include "kernels/gemm/shape.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

/// Product of tiles in a core with a vector unit (codelets_tiles.S).
namespace tessera::gemm {

/// Names in configs; types other than data::kFloatTypes require a vector unit.
constexpr config::Names<Type, 5> kElementTypes{{{"f16", Type::f16},
                                                {"f32", Type::f32},
                                                {"i8", Type::i8},
                                                {"i16", Type::i16},
                                                {"bf16", Type::bf16}}};

/// Inputs and outputs of a vector unit's instruction, by type.
struct VectorType {
  Type type;
  const char* name;  ///< as in configs, peaks and tile code
  std::uint32_t bytes;
  std::uint32_t inputs;     ///< rows of B per step: terms added to each sum
  std::uint32_t outputs;    ///< columns of a block
  std::uint32_t sum_bytes;  ///< bytes of an accumulator per sum

  [[nodiscard]] bool is_float() const { return type == Type::bf16; }
  /// The largest integer.
  [[nodiscard]] std::int64_t most() const { return bytes == 1 ? INT8_MAX : INT16_MAX; }
  /// Index of an element in a step of B with adjacent blocks, [block][input][column]; `column`
  /// counts from the first block's on.
  [[nodiscard]] std::uint32_t place(std::uint32_t input, std::uint32_t column) const {
    return (column / outputs * inputs + input) * outputs + column % outputs;
  }
};
/// Null if the vector unit has no such type.
const VectorType* vector_type(Type type);

/// The part of C that tile code holds in accumulators at a time.
struct Patch {
  std::uint32_t rows, blocks;  ///< column blocks
};
constexpr Patch kDensePatch{16, 2};
constexpr std::uint32_t kKeptColumns = 8;  ///< columns of a patch if B has kept blocks
constexpr Patch kept_patch(const VectorType& type) {
  const std::uint32_t blocks = kKeptColumns / type.outputs;
  return {kDensePatch.rows * kDensePatch.blocks / blocks, blocks};
}
/// `kept`: B has kept blocks.
constexpr Patch patch_of(const VectorType& type, bool kept) {
  return kept ? kept_patch(type) : kDensePatch;
}
constexpr std::uint32_t kFewestSteps = 4;  ///< steps per call

/// Tiles of A, B and C in a core: A[rows, depth], B[depth, columns], C[rows, columns], of whole
/// patches and an even number of steps.
struct CoreTile {
  std::uint32_t rows, columns, depth;

  [[nodiscard]] std::uint64_t a_bytes(const VectorType& type) const {
    return std::uint64_t{rows} * depth * type.bytes;
  }
  [[nodiscard]] std::uint64_t b_bytes(const VectorType& type) const {
    return std::uint64_t{depth} * columns * type.bytes;
  }
  [[nodiscard]] std::uint64_t c_bytes(const VectorType& type) const {
    return std::uint64_t{rows} * columns * type.bytes;
  }
  [[nodiscard]] std::uint64_t sum_bytes(const VectorType& type) const {
    return std::uint64_t{rows} * columns * type.sum_bytes;
  }
};
/// Granularity of a tile's sides.
constexpr std::uint32_t column_unit(const VectorType& type, const Patch& patch) {
  return patch.blocks * type.outputs;
}
constexpr std::uint32_t depth_unit(const VectorType& type) { return 2 * type.inputs; }
constexpr std::uint32_t least_depth(const VectorType& type) { return kFewestSteps * type.inputs; }

/// Names of tile code: that of a core; that of all workers of a tile, each with its own arguments
/// (shared_arguments); that which adds the sums of parts of the depth.
std::string core_code(const VectorType& type, bool kept);
std::string shared_code(const VectorType& type, bool kept);
std::string sum_code(const VectorType& type);
constexpr std::uint32_t kSumBytes = 128;    ///< bytes of an accumulator
constexpr std::uint32_t kResultBytes = 32;  ///< bytes of its results

constexpr std::uint32_t kSlotAlign = 64;   ///< alignment of a tile in a core
constexpr std::uint32_t kZeroBytes = 256;  ///< bytes of zeros, the initial sums

enum class Begins : std::uint8_t { zeros, results, sums };
enum class Ends : std::uint8_t { results, sums };

/// Lists of a B with kept blocks: the number of pairs of steps of each patch, and the positions of
/// steps. In B the second list follows the first, as `kept_NAME` expects, elsewhere they may be
/// anywhere.
template <class Where>
struct KeptLists {
  Where pairs, steps;
};

/// Arguments of `product_NAME` or, with kept blocks, `kept_NAME`, for one worker.
struct CoreProduct {
  const VectorType* type;
  CoreTile tile;
  program::Argument a, b, c, sums, zeros;
  std::uint32_t shift = 0;  ///< right shift of stored integers, left shift of those read back
  Begins begins = Begins::zeros;
  Ends ends = Ends::results;
  std::optional<KeptLists<program::Argument>> lists = {};  ///< if B has kept blocks

  [[nodiscard]] std::vector<program::Argument> arguments() const;
  [[nodiscard]] program::Vertex vertex(std::uint32_t node, std::uint32_t codelet) const {
    return {TileId{node}, codelet, program::Executor::all_workers, 0, arguments()};
  }
};

/// Arguments of the shared code, one set for each worker. Workers without a tile do nothing.
std::vector<program::Argument> shared_arguments(std::span<const CoreProduct> workers,
                                                std::uint32_t contexts);

// A B in which only some blocks are kept, in tiles: only they are stored, moved and multiplied. A
// block is the part of a patch multiplied in one step: `inputs` rows and kKeptColumns columns.

struct KeptBlocks {
  std::vector<std::uint64_t> begin;  ///< first block of each patch of columns, and the total
  std::vector<std::uint32_t> step;   ///< row of each block, in steps; ascending in a patch
  std::vector<float> value;          ///< [block][input][column]

  [[nodiscard]] std::uint32_t patches() const {
    return static_cast<std::uint32_t>(begin.size() - 1);
  }
};

/// Bytes of a block; tile code reads two more blocks after a tile.
constexpr std::uint32_t kept_bytes(const VectorType& type) {
  return type.inputs * kKeptColumns * type.bytes;
}

/// Tiles, all padded to the bytes of the fullest: blocks, and lists of their positions, as
/// codelets_tiles.S reads them.
class KeptTiles {
 public:
  /// `across` x `steps` tiles, across columns and along the depth, that cover at least the blocks.
  /// Holds references to the first two arguments.
  KeptTiles(const KeptBlocks& blocks, const VectorType& type, const CoreTile& tile,
            std::uint32_t across, std::uint32_t steps);

  /// Pairs of blocks of a tile: each patch has an even number of blocks, at least two.
  [[nodiscard]] std::uint32_t pairs(std::uint32_t column, std::uint32_t step) const {
    return pairs_[std::size_t{column} * steps_ + step];
  }
  [[nodiscard]] std::uint32_t patches() const { return patches_; }  ///< patches of a tile
  [[nodiscard]] std::uint32_t pairs_of_patch(std::uint32_t column, std::uint32_t step,
                                             std::uint32_t patch) const;
  [[nodiscard]] std::uint32_t block_bytes() const { return 2 * most_ * kept_bytes(type_); }
  [[nodiscard]] std::uint32_t list_bytes() const;
  /// Addresses of lists that begin at offset `begin`.
  [[nodiscard]] KeptLists<std::uint32_t> lists(std::uint32_t begin) const {
    return {begin, begin + 2 * patches_};
  }
  void write_blocks(std::uint32_t column, std::uint32_t step, std::span<std::byte> into) const;
  void write_lists(std::uint32_t column, std::uint32_t step, std::span<std::byte> into) const;

 private:
  void write_block(std::span<const float> values, std::byte* into) const;
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> kept(std::uint32_t patch,
                                                             std::uint32_t step) const;

  const KeptBlocks& blocks_;
  const VectorType& type_;
  std::uint32_t patches_, depth_steps_, steps_;
  std::uint32_t most_ = 0;            ///< pairs of the fullest tile
  std::vector<std::uint32_t> pairs_;  ///< [tile of columns][step]
};

/// A tile for measurements: `pairs` pairs divided among `patches` patches, all at the first step.
struct KeptSample {
  KeptSample(const VectorType& type, std::uint32_t patches, std::uint32_t pairs);
  KeptLists<std::uint32_t> lists;
  std::vector<std::byte> bytes;
};

// Calls of product code as functions of a description, on sample tiles. Kept blocks are evenly
// distributed over patches. Operands: tiles of A, B and C, sums, zeros.

/// Kind of a call: its type, its B, its initial values and its results.
struct CallKind {
  const VectorType* type;
  bool kept;  ///< B is kept blocks
  Begins begins;
  Ends ends;
};

/// A core's product. Sizes: parts, patches, pairs of steps beyond the minimum of a call, pairs of
/// kept blocks of each patch.
plan::Function product_of(const kernels::Codelet& code, const CallKind& kind);

/// The product of a tile's workers, each with its own sums. Sizes: parts, patches and pairs of
/// steps beyond the minimum (kept blocks: pairs of all patches beyond one each) of the busiest
/// worker.
plan::Function products_of(const kernels::Codelet& code, const CallKind& kind);

/// The workers' addition of sums over parts of the depth. Sizes: accumulators, and parts minus one.
/// Operands: the contiguous parts, and C.
plan::Function sum_of(const kernels::Codelet& code, const VectorType& type, std::uint32_t shift);

/// Number of workers along the rows of a tile of C that minimises the patches of the busiest
/// worker.
std::uint32_t rows_of_workers(std::uint32_t parts, std::uint32_t patches, std::uint32_t contexts);

}  // namespace tessera::gemm
