#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm/shape.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

/// The product of tiles that lie in a core with a vector unit (codelets_tiles.S).
namespace tessera::gemm {

/// As configs name them; those that are no floating-point types of data::kFloatTypes are of arrays.
constexpr config::Names<Type, 5> kElementTypes{{{"f16", Type::f16},
                                                {"f32", Type::f32},
                                                {"i8", Type::i8},
                                                {"i16", Type::i16},
                                                {"bf16", Type::bf16}}};

/// What a type of the vector unit takes and gives in one instruction.
struct VectorType {
  Type type;
  const char* name;  ///< as configs, peaks and tile code have it
  std::uint32_t bytes;
  std::uint32_t inputs;     ///< of a step: what a sum grows by
  std::uint32_t outputs;    ///< columns of a block
  std::uint32_t sum_bytes;  ///< that an accumulator spends on a sum

  [[nodiscard]] bool is_float() const { return type == Type::bf16; }
};
/// Null: the vector unit has no such type.
const VectorType* vector_type(Type type);

/// What tile code has of C at a time, in all accumulators.
struct Patch {
  std::uint32_t rows, blocks;  ///< blocks of columns
};
constexpr Patch kDensePatch{16, 2};
constexpr std::uint32_t kKeptColumns = 8;  ///< of a patch where B has kept blocks alone
constexpr Patch kept_patch(const VectorType& type) {
  const std::uint32_t blocks = kKeptColumns / type.outputs;
  return {kDensePatch.rows * kDensePatch.blocks / blocks, blocks};
}
constexpr std::uint32_t kFewestSteps = 4;  ///< of a call

/// Tiles of A, B and C in a core: A[rows, depth], B[depth, columns], C[rows, columns]. They are
/// made of patches, and of an even number of steps.
struct CoreTile {
  std::uint32_t rows, columns, depth;

  [[nodiscard]] std::uint32_t a_bytes(const VectorType& type) const {
    return rows * depth * type.bytes;
  }
  [[nodiscard]] std::uint32_t b_bytes(const VectorType& type) const {
    return depth * columns * type.bytes;
  }
  [[nodiscard]] std::uint32_t c_bytes(const VectorType& type) const {
    return rows * columns * type.bytes;
  }
  [[nodiscard]] std::uint32_t sum_bytes(const VectorType& type) const {
    return rows * columns * type.sum_bytes;
  }
};
/// Multiples that the sides of a tile are of.
constexpr std::uint32_t column_unit(const VectorType& type, const Patch& patch) {
  return patch.blocks * type.outputs;
}
constexpr std::uint32_t depth_unit(const VectorType& type) { return 2 * type.inputs; }
constexpr std::uint32_t least_depth(const VectorType& type) { return kFewestSteps * type.inputs; }

/// Adds the tile code of such products to a program.
std::uint32_t add_product_code(program::Program& program, const VectorType& type, bool kept);

constexpr std::uint32_t kSlotAlign = 64;   ///< of a tile in a core
constexpr std::uint32_t kZeroBytes = 256;  ///< of zeros, which sums begin with

/// What sums begin with, and where they end.
enum class Begins : std::uint8_t { zeros, results, sums };
enum class Ends : std::uint8_t { results, sums };

/// Arguments of `product_NAME` or, of kept blocks, `kept_NAME`, for one worker.
struct CoreProduct {
  const VectorType* type;
  CoreTile tile;
  program::Argument a, b, c, sums, zeros;
  std::uint32_t shift = 0;  ///< of integers, as results are stored and read
  Begins begins = Begins::zeros;
  Ends ends = Ends::results;
  std::optional<std::uint32_t> lists = {};  ///< where they begin in B, if that is kept blocks

  [[nodiscard]] std::vector<program::Argument> arguments() const;
  [[nodiscard]] program::Vertex vertex(std::uint32_t node, std::uint32_t codelet) const {
    return {TileId{node}, codelet, program::Executor::all_workers, 0, arguments()};
  }
};

}  // namespace tessera::gemm
