#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/gemm/core_product.h"

/// A B of which some blocks alone are kept, in tiles: they alone are stored, moved and multiplied.
/// A block is what a step multiplies of a patch: `inputs` rows and kKeptColumns columns.
namespace tessera::gemm {

struct KeptBlocks {
  std::vector<std::uint64_t> begin;  ///< by patch of columns its first block, and their number
  std::vector<std::uint32_t> step;   ///< of each block: rows inputs * step on; ascending in a patch
  std::vector<float> value;          ///< [block][input][column]

  [[nodiscard]] std::uint32_t patches() const {
    return static_cast<std::uint32_t>(begin.size() - 1);
  }
};

/// Bytes of a block; tile code reads two of them behind a tile.
constexpr std::uint32_t kept_bytes(const VectorType& type) {
  return type.inputs * kKeptColumns * type.bytes;
}

/// Tiles of equally many bytes, those of the fullest: blocks, then lists of where they belong, as
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
  [[nodiscard]] std::uint32_t patches() const { return patches_; }  ///< of a tile
  /// Where the lists begin, and all bytes of a tile.
  [[nodiscard]] std::uint32_t lists() const { return 2 * most_ * kept_bytes(type_); }
  [[nodiscard]] std::uint32_t bytes() const;
  void write(std::uint32_t column, std::uint32_t step, std::span<std::byte> into) const;

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

/// A tile for measurements: `patches` of so many pairs each, all at the first step.
struct KeptSample {
  KeptSample(const VectorType& type, std::uint32_t patches, std::uint32_t pairs);
  std::uint32_t lists;
  std::vector<std::byte> bytes;
};

}  // namespace tessera::gemm
