#pragma once

#include <memory>

#include "kernels/spmm_dynamic/parts.h"
#include "sim/data/dense_operand.h"

/// The program of a product, said once for all tiles.
namespace tessera::spmm_dynamic {

/// The times of what data decide, for estimates.
struct Decided {
  std::uint64_t own = 0;      ///< cycles of a product with the pool that lies on the tile
  std::uint64_t spilled = 0;  ///< of one after a step, on average
  std::uint32_t y_steps = 0;  ///< that the pools travel
  std::uint32_t x_steps = 0;
};

/// What tiles hold before a run; what it refers to outlives the program.
struct Given {
  const data::DenseOperand* x = nullptr;
  const data::DenseOperand* yg = nullptr;
  /// What the tiles of partition (x, y) hold together: lists and values.
  std::function<std::vector<std::byte>(std::uint32_t run, std::uint32_t x, std::uint32_t y)> pool;
};

/// States the program; without `given` only its time and memory can be read. Returns the array of
/// results.
program::BufferId state_program(plan::Description& description, const Parts& parts,
                                const sparse::TileCode& code, const Decided& decided,
                                const std::shared_ptr<const Given>& given);

/// Turns of a loop of two steps each that take pools home which went `steps` on, of `length` tiles
/// around.
inline std::uint32_t turns_home(std::uint32_t steps, std::uint32_t length) {
  return steps % (length % 2 == 0 ? length : 2 * length) / 2;
}

/// The tiles that differ: the fullest, and one whose pair is divided.
std::vector<Tile> representatives(const Grid& grid);

}  // namespace tessera::spmm_dynamic
