#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/convnet/geometry.h"
#include "kernels/convnet/patches.h"
#include "sim/program/program.h"

/// Argument blocks of the tile code of convolutions (codelets.S), for one worker: `prepare` once
/// for each set of kept planes, then `convolve` or `pool_max` for each input. Buffers and tables
/// (patches.h) are places of the program.
namespace tessera::convnet {

using program::Argument;

/// Weights of a step: for each plane computed at a time [inputs][outputs].
constexpr std::uint32_t step_bytes(const VectorType& type) {
  return block_planes(type) * type.inputs * type.outputs * type.bytes;
}
/// Biases of a block: int8: 8 x i32, int16: 4 x i64, bf16: 4 x f32 twice.
constexpr std::uint32_t kBiasBlockBytes = 32;
// Bytes after these buffers that are read ahead but not used; they must exist.
constexpr std::uint32_t kWeightBytesAhead = 3 * 64;
constexpr std::uint32_t kBiasBytesAhead = kBiasBlockBytes;

/// The steps of a call: for each block of output channels (a plane) the same number of input
/// planes, and for each of these every tap. Weights have this order:
/// [block][plane][tap][step_bytes()]. For bf16, planes are pairs of planes.
struct Steps {
  std::uint32_t blocks;
  std::uint32_t planes;  ///< kept planes of a block
  std::uint32_t taps;

  [[nodiscard]] std::uint32_t of_block() const { return planes * taps; }
  [[nodiscard]] std::uint64_t weight_bytes(const VectorType& type) const {
    return std::uint64_t{blocks} * of_block() * step_bytes(type) + kWeightBytesAhead;
  }
  [[nodiscard]] std::uint64_t bias_bytes(const VectorType& type) const {
    return (std::uint64_t{blocks} * kBiasBlockBytes + kBiasBytesAhead) * block_planes(type);
  }
  /// Bytes of the list that `prepare` writes.
  [[nodiscard]] std::uint64_t distance_bytes() const;
};

/// True if the distances written for `prepared` blocks serve a call of `blocks`. Distances of more
/// blocks serve it too, unless planes continue from block to block: a call reads ahead after its
/// last block, and would read the next one's plane.
constexpr bool distances_serve(std::uint32_t prepared, std::uint32_t blocks, bool one_plane_each) {
  return one_plane_each ? prepared == blocks : prepared >= blocks;
}

struct Prepare {
  Steps steps;
  Argument distances;  ///< written: Steps::distance_bytes
  /// u16 plane numbers of each block, [block][plane], and two that are read ahead; 0: 0, 1, ...
  Argument numbers = 0U;
  Argument tap_offsets;  ///< i32, Steps::taps of them and one read ahead
  std::uint32_t input_plane_bytes = 0;
  bool one_plane_each = false;  ///< without numbers: planes continue from block to block

  [[nodiscard]] std::vector<Argument> arguments() const;

 private:
  /// True for all planes in order and one tap: all distances but a block's first are equal.
  [[nodiscard]] bool is_regular() const;
};

std::string code_name(std::string_view codelet, const VectorType& type);

struct Call {
  std::string codelet;
  std::vector<Argument> arguments;
};

/// Convolution with bias, requantised: (sum + bias) >> shift, rounded to nearest even and
/// saturated; bf16 is rounded. With one plane per block and diagonal weights it computes a mean, or
/// a sum of two tensors that are two taps apart.
struct Convolve {
  const VectorType* type = gemm::vector_type(program::Type::i8);
  Steps steps;
  Grid grid;  ///< the outputs
  Argument input;
  Argument output = 0U;           ///< unused if ends_with_partials
  Argument weights;               ///< Steps::weight_bytes; shared: shared_weights()
  Argument bias = 0U;             ///< Steps::bias_bytes, also if it begins with partial sums
  Argument distances;             ///< written by `prepare` for these steps
  Argument patches;               ///< words of table()
  std::uint32_t first_patch = 0;  ///< PatchTable::first
  Argument partials = 0U;         ///< PatchTable::partial_bytes
  std::uint32_t shift = 0;        ///< 0 to 31
  bool relu = false;
  bool begins_with_partials = false;  ///< instead of the bias
  bool ends_with_partials = false;    ///< instead of an output
  bool shared_weights = false;        ///< all blocks have the same weights
  bool same_planes = false;           ///< all blocks use the same planes

  [[nodiscard]] bool computes_pairs() const { return block_planes(*type) == 2; }
  /// With shared weights: makes one block of the same planes, which patches then hold contiguously.
  /// No change if one plane fills patches, and for pairs.
  void join_planes();
  [[nodiscard]] PatchTable table() const;
  /// Arguments of one call of `convolve` for all output blocks.
  [[nodiscard]] std::vector<Argument> arguments() const;
  /// Calls for all output blocks over the patches of `table`; its wide code computes as many blocks
  /// as possible.
  [[nodiscard]] std::vector<Call> calls(const PatchTable& table) const;
  /// The next call of `convolve` over `table` on its worker, if it differs from `before` only in
  /// input and output and these are in the same buffers; else nothing.
  [[nodiscard]] std::optional<Call> again(const Call& before, const Call& next,
                                          const PatchTable& table) const;
  /// Number of blocks whose distances the calls read: wide code rereads those of the first one.
  [[nodiscard]] std::uint32_t prepared_blocks(const PatchTable& table) const;

 private:
  /// True without partial sums and shared weights and with an even number of steps, at least 4:
  /// `convolve` then continues from block to block and from patch to patch.
  [[nodiscard]] bool is_even() const;
  /// True if code with four steps per iteration computes the blocks left by wide code.
  [[nodiscard]] bool takes_turns(const PatchTable& table) const;
};

/// The largest input over all taps, plane by plane; steps as for Prepare: one plane each and an
/// even number of taps (the last one is repeated if necessary).
struct PoolMax {
  Steps steps;
  Argument input;
  Argument output;
  Argument distances;
  Argument patches;  ///< words of pool_patch_table
  std::uint32_t output_plane_bytes = 0;

  [[nodiscard]] std::vector<Argument> arguments() const;
};

/// Weights shared by all blocks, with a factor per tap on the diagonal: blocks for the taps, then
/// the first two again.
std::vector<std::byte> shared_weights(const VectorType& type, std::span<const float> factors);

}  // namespace tessera::convnet
