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

/// The product of tiles that lie in a core with a vector unit (codelets_tiles.S).
namespace tessera::gemm {

/// As configs name them; those beside data::kFloatTypes are of units with vectors.
constexpr config::Names<Type, 5> kElementTypes{{{"f16", Type::f16},
                                                {"f32", Type::f32},
                                                {"i8", Type::i8},
                                                {"i16", Type::i16},
                                                {"bf16", Type::bf16}}};

/// Inputs and outputs of a vector unit's instruction, by type.
struct VectorType {
  Type type;
  const char* name;  ///< as configs, peaks and tile code have it
  std::uint32_t bytes;
  std::uint32_t inputs;     ///< rows of B per step: terms added to each sum
  std::uint32_t outputs;    ///< columns of a block
  std::uint32_t sum_bytes;  ///< bytes of an accumulator per sum

  [[nodiscard]] bool is_float() const { return type == Type::bf16; }
  /// The largest integer.
  [[nodiscard]] std::int64_t most() const { return bytes == 1 ? INT8_MAX : INT16_MAX; }
  /// Where an element of a step of B lies among those of blocks side by side, [block][input]
  /// [column]; `column` from the first block's on.
  [[nodiscard]] std::uint32_t place(std::uint32_t input, std::uint32_t column) const {
    return (column / outputs * inputs + input) * outputs + column % outputs;
  }
};
/// Null: the vector unit has no such type.
const VectorType* vector_type(Type type);

/// The part of C that tile code has in all accumulators at a time.
struct Patch {
  std::uint32_t rows, blocks;  ///< blocks of columns
};
constexpr Patch kDensePatch{16, 2};
constexpr std::uint32_t kKeptColumns = 8;  ///< columns of a patch if B consists of kept blocks
constexpr Patch kept_patch(const VectorType& type) {
  const std::uint32_t blocks = kKeptColumns / type.outputs;
  return {kDensePatch.rows * kDensePatch.blocks / blocks, blocks};
}
/// `kept`: B consists of kept blocks.
constexpr Patch patch_of(const VectorType& type, bool kept) {
  return kept ? kept_patch(type) : kDensePatch;
}
constexpr std::uint32_t kFewestSteps = 4;  ///< steps per call

/// Tiles of A, B and C in a core: A[rows, depth], B[depth, columns], C[rows, columns]. They are
/// made of patches, and of an even number of steps.
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
/// Multiples that the sides of a tile are of.
constexpr std::uint32_t column_unit(const VectorType& type, const Patch& patch) {
  return patch.blocks * type.outputs;
}
constexpr std::uint32_t depth_unit(const VectorType& type) { return 2 * type.inputs; }
constexpr std::uint32_t least_depth(const VectorType& type) { return kFewestSteps * type.inputs; }

/// The tile code that a core calls; that which all workers of a tile call, each with arguments of
/// its own (shared_arguments); that which adds up the sums of parts of the depth.
std::string core_code(const VectorType& type, bool kept);
std::string shared_code(const VectorType& type, bool kept);
std::string sum_code(const VectorType& type);
constexpr std::uint32_t kSumBytes = 128;    ///< bytes of an accumulator
constexpr std::uint32_t kResultBytes = 32;  ///< bytes of its results

constexpr std::uint32_t kSlotAlign = 64;   ///< alignment of a tile in a core
constexpr std::uint32_t kZeroBytes = 256;  ///< bytes of zeros, which sums begin with

enum class Begins : std::uint8_t { zeros, results, sums };
enum class Ends : std::uint8_t { results, sums };

/// The lists of a B of kept blocks: how many pairs of steps each patch has, and where steps belong.
/// In B, the second behind the first, as `kept_NAME` has them, or anywhere.
template <class Where>
struct KeptLists {
  Where pairs, steps;
};

/// Arguments of `product_NAME` or, of kept blocks, `kept_NAME`, for one worker.
struct CoreProduct {
  const VectorType* type;
  CoreTile tile;
  program::Argument a, b, c, sums, zeros;
  std::uint32_t shift = 0;  ///< right for integers stored, left for those read back
  Begins begins = Begins::zeros;
  Ends ends = Ends::results;
  std::optional<KeptLists<program::Argument>> lists = {};  ///< if B is kept blocks

  [[nodiscard]] std::vector<program::Argument> arguments() const;
  [[nodiscard]] program::Vertex vertex(std::uint32_t node, std::uint32_t codelet) const {
    return {TileId{node}, codelet, program::Executor::all_workers, 0, arguments()};
  }
};

/// Arguments of the shared code, one set a worker. Workers without a tile do nothing.
std::vector<program::Argument> shared_arguments(std::span<const CoreProduct> workers,
                                                std::uint32_t contexts);

// A B of which some blocks alone are kept, in tiles: they alone are stored, moved and multiplied.
// A block is what a step multiplies of a patch: `inputs` rows and kKeptColumns columns.

struct KeptBlocks {
  std::vector<std::uint64_t> begin;  ///< by patch of columns its first block, and their number
  std::vector<std::uint32_t> step;   ///< by block: rows inputs * step on; ascending in a patch
  std::vector<float> value;          ///< [block][input][column]

  [[nodiscard]] std::uint32_t patches() const {
    return static_cast<std::uint32_t>(begin.size() - 1);
  }
};

/// Bytes of a block; tile code reads two of them behind a tile.
constexpr std::uint32_t kept_bytes(const VectorType& type) {
  return type.inputs * kKeptColumns * type.bytes;
}

/// Tiles of equally many bytes, those of the fullest: blocks, and lists of where they belong, as
/// codelets_tiles.S reads them.
class KeptTiles {
 public:
  /// So many tiles side by side, and along the depth; they cover at least the blocks. The first two
  /// are kept by reference.
  KeptTiles(const KeptBlocks& blocks, const VectorType& type, const CoreTile& tile,
            std::uint32_t across, std::uint32_t steps);

  /// Pairs of blocks that a tile multiplies: a patch has an even number, and two at least.
  [[nodiscard]] std::uint32_t pairs(std::uint32_t column, std::uint32_t step) const {
    return pairs_[std::size_t{column} * steps_ + step];
  }
  [[nodiscard]] std::uint32_t patches() const { return patches_; }  ///< patches of a tile
  [[nodiscard]] std::uint32_t pairs_of_patch(std::uint32_t column, std::uint32_t step,
                                             std::uint32_t patch) const;
  [[nodiscard]] std::uint32_t block_bytes() const { return 2 * most_ * kept_bytes(type_); }
  [[nodiscard]] std::uint32_t list_bytes() const;
  /// Where lists that begin so many bytes from something are.
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

/// A tile for measurements: `patches` among which so many pairs are divided, all at the first step.
struct KeptSample {
  KeptSample(const VectorType& type, std::uint32_t patches, std::uint32_t pairs);
  KeptLists<std::uint32_t> lists;
  std::vector<std::byte> bytes;
};

// Calls of the code for products as functions of a description, on samples of tiles. A B of kept
// blocks has as many of them in all patches. Operands: tiles of A, B and C, sums, zeros.

/// What a call multiplies, and what its sums begin with and leave.
struct CallKind {
  const VectorType* type;
  bool kept;  ///< B is kept blocks
  Begins begins;
  Ends ends;
};

/// A core's product. Sizes: parts, patches, pairs of steps beyond the fewest that a call has, pairs
/// of each patch's kept blocks.
plan::Function product_of(const kernels::Codelet& code, const CallKind& kind);

/// The product of a tile's workers, each with sums of its own. Sizes: parts, patches and pairs of
/// steps beyond the fewest (kept blocks: pairs of all patches beyond one each) of the worker that
/// has most.
plan::Function products_of(const kernels::Codelet& code, const CallKind& kind);

/// The workers' addition of sums of parts of the depth. Sizes: accumulators, and parts less one.
/// Operands: the parts, one behind the other, and C.
plan::Function sum_of(const kernels::Codelet& code, const VectorType& type, std::uint32_t shift);

/// Workers side by side along the rows of a tile of C: so that the fullest has fewest patches.
std::uint32_t rows_of_workers(std::uint32_t parts, std::uint32_t patches, std::uint32_t contexts);

}  // namespace tessera::gemm
