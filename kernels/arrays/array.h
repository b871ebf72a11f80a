#pragma once

#include <cstdint>
#include <span>

#include "sim/machine/machine_config.h"

/// Arrays of cores with memory tiles and DDR: node numbers by position, and streams between nodes.
namespace tessera::arrays {

/// An array of cores in rows and columns, with a memory tile at the head of each column and one DDR
/// node.
struct Array {
  std::uint32_t rows, columns;
  std::uint32_t first_memory, ddr;  ///< nodes
  /// Rows of tensors are padded to multiples of this many columns, in memory tiles and in streams
  /// to and from cores.
  std::uint32_t column_multiple = 1;

  [[nodiscard]] std::uint32_t core(std::uint32_t row, std::uint32_t column) const {
    return row * columns + column;
  }
  [[nodiscard]] std::uint32_t memory(std::uint32_t column) const { return first_memory + column; }
  /// The memory tile that sends weights to a row of cores.
  [[nodiscard]] std::uint32_t weights_memory(std::uint32_t row) const {
    return first_memory + row % columns;
  }
  [[nodiscard]] std::uint32_t nodes() const { return ddr + 1; }
};

inline constexpr std::uint32_t kAlign = 64;  ///< bytes: alignment in nodes
/// Bytes available for tensors on a node, allowing for alignment padding at their start and before
/// the stacks; `beside` bytes are kept free.
std::uint64_t data_bytes(const TileConfig& tile, std::uint64_t beside = 0);

/// Names of the streams that programs use.
inline constexpr const char* kActivations = "activations";   ///< memory tile to its column
inline constexpr const char* kWeights = "weights";           ///< memory tile to a row
inline constexpr const char* kResults = "results";           ///< cores to their memory tile
inline constexpr const char* kHalo = "halo";                 ///< memory tile to memory tile
inline constexpr const char* kLoad = "load";                 ///< DDR to memory tile
inline constexpr const char* kLoadWeights = "load_weights";  ///< DDR to memory tile
inline constexpr const char* kStore = "store";               ///< memory tile to DDR

/// The array of a machine, for the kernel `user` that uses `streams`. Throws KeyError if the
/// machine lacks nodes or streams.
Array array_of(const MachineConfig& machine, std::span<const char* const> streams,
               const char* user);

}  // namespace tessera::arrays
