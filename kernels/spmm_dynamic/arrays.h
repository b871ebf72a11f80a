#pragma once

#include <memory>
#include <span>

#include "kernels/spmm_dynamic/program.h"

/// Where a product's operands, pools and results lie, and what tiles pull of them.
namespace tessera::spmm_dynamic {

/// Words of a cell's flags.
enum class Flag : std::uint8_t {
  spilled,       ///< a sub-group of the pool here is not done
  spilled_here,  ///< one that is for this part of the rows
  away_along_y,  ///< the pool here is another partition's
  away_along_x
};

/// What functions of steps keep: the parts and where they lie.
struct Arrays : Parts {
  explicit Arrays(const Parts& parts) : Parts(parts) {}

  program::BufferId bucket{}, pools[2]{};  ///< the pools travel from the one to the other
  program::BufferId flags{};
  program::BufferId x_slice{}, x{};  ///< rows of X
  program::BufferId y_slice{}, y{};  ///< rows of Yg, or partial results
  program::BufferId received{};      ///< partial results of others
  program::BufferId results{};       ///< of the tile's share
  std::shared_ptr<const Given> given;

  [[nodiscard]] const data::DenseOperand* operand(const data::DenseOperand* Given::*which) const {
    return given == nullptr ? nullptr : (*given).*which;
  }
  [[nodiscard]] program::Place flag(Flag which) const {
    return {flags, kFlagWord * static_cast<std::uint32_t>(which)};
  }
  [[nodiscard]] program::Place partial(std::uint64_t chunk) const {
    const std::uint32_t at = word(chunk) * kChunkBytes;
    return shape().gradient ? program::Place{pools[0], bytes.meta + at} : program::Place{y, at};
  }

  void fill_bucket(Tile tile, std::uint32_t run, std::span<std::byte> into) const;
  /// Buckets of the partition, rows of X (of Yg) that the tile needs.
  void pull_operands(Tile tile, plan::Pulls& pulls) const;
  /// The tile's share of the others' partial results; sums of one part are results as they are.
  void pull_partials(Tile tile, plan::Pulls& pulls) const;
};

}  // namespace tessera::spmm_dynamic
