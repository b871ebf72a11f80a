#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/block_shape.h"
#include "kernels/layout.h"
#include "sim/data/element.h"

/// Types and blocks of a product with a sparse W, and what follows from them for layouts and tile
/// code.
namespace tessera::sparse {

using kernels::Layout;
using program::Type;

/// Types, blocks and layout of W X with W in blocks.
struct Shape {
  std::uint32_t block = 1;
  Type type = Type::f16;      ///< type of W, X and Y
  Type partials = Type::f32;  ///< type of sums; f16 only with f16
  Layout layout = Layout::blocked;
  bool gradient = false;          ///< gradient of W's values: by element, W's own rows and columns
  kernels::BlockShape unit = {};  ///< the blocks' multiplier: a matrix unit, or vector code

  [[nodiscard]] std::uint32_t bytes() const { return data::element_bytes(type); }
  [[nodiscard]] std::uint32_t partial_bytes() const { return data::element_bytes(partials); }
  /// Elements of a 64-bit word.
  [[nodiscard]] std::uint32_t lanes() const { return 8 / bytes(); }
  /// True if sums become results only when they are packed.
  [[nodiscard]] bool mixed() const { return type != partials; }
  [[nodiscard]] bool natural() const { return layout == Layout::natural; }
  /// True if rows must become blocks and blocks rows; rows of single elements are both.
  [[nodiscard]] bool relayouts() const { return natural() && block > 1; }
  /// True if W is multiplied block by block, not element by element.
  [[nodiscard]] bool in_blocks() const { return block > 1 && !gradient; }
  [[nodiscard]] bool on_unit() const { return in_blocks() && unit.on_unit(); }

  /// Rows of X (of results) whose elements stand side by side for each column: a block's, or as
  /// many as `unit` takes (gives) at once.
  [[nodiscard]] std::uint32_t x_depth() const {
    return in_blocks() ? std::min(block, unit.depth) : 1;
  }
  [[nodiscard]] std::uint32_t y_depth() const {
    return in_blocks() ? std::min(block, unit.columns) : 1;
  }
  /// A block goes past the unit in input_runs() x output_runs() runs of so many inputs and outputs
  /// (code/block_run.inc).
  [[nodiscard]] std::uint32_t input_runs() const { return in_blocks() ? block / x_depth() : 1; }
  [[nodiscard]] std::uint32_t output_runs() const { return in_blocks() ? block / y_depth() : 1; }
  /// Products of a block that are added up before the sum is rounded to partials.
  [[nodiscard]] std::uint32_t summed() const { return on_unit() ? x_depth() : 1; }
  /// Positions that a loop of a worker takes at a time: two where each is one instruction.
  [[nodiscard]] std::uint32_t unroll() const {
    if (!on_unit()) return 1;
    const bool one = x_depth() * unit.phases <= unit.depth && y_depth() * partial_bytes() <= 8;
    return one ? 2 : 1;
  }
  /// "16_f16_f32_16x8": what codelets of this block and unit are called after.
  [[nodiscard]] std::string name() const { return fmt::format("{}_{}", block, unit.name()); }
  /// Where value `number` of a block stands in the block by rows: [outputs of a run][input][output]
  /// is the order in which the weight store takes it.
  [[nodiscard]] std::size_t place_in_block(std::size_t number) const {
    const std::size_t outputs = y_depth();
    const std::size_t position = number / outputs;  // inputs of this and earlier outputs
    return (position / block * outputs + number % outputs) * block + position % block;
  }
};

/// Products of these blocks on a machine, for a planner to choose from: with blocks of its matrix
/// unit that are no larger than W's where it can take such, then in vector code. `pinned`: only of
/// that form; throws KeyError naming `key` if the unit cannot take such blocks. Sums of f32 are
/// f32.
inline std::vector<Shape> make_shapes(std::uint32_t block, Type type, Type partials, Layout layout,
                                      const MachineConfig& machine,
                                      const kernels::Form& pinned = {},
                                      const char* key = "workload.plan.unit") {
  if (type == Type::f32) partials = Type::f32;
  std::vector<Shape> shapes;
  for (const kernels::BlockShape& form :
       kernels::block_shapes_within(block, machine.tile.matrix_unit, type, partials, pinned, key)) {
    shapes.push_back({block, type, partials, layout, false, form});
    if (block == 1) break;  // no blocks are multiplied
  }
  return shapes;
}

// How the workers of a tile divide rows of unequal work, which they go through in passes.

/// A worker's part: these rows in these passes.
struct WorkerRows {
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_pass = 0;
  std::uint32_t passes = 0;
};

/// Rectangles of rows and passes, one a worker, some of them empty: the passes in `pass_parts`, the
/// rows over as many workers as are left for each. `before`: the work before each row, and of all.
std::vector<WorkerRows> rectangles(const std::vector<std::uint64_t>& before, std::uint32_t passes,
                                   std::uint32_t workers, std::uint32_t pass_parts);

/// Those of 1 to `most_pass_parts`, whichever gives the least `cycles`.
std::vector<WorkerRows> divide_rows(
    const std::vector<std::uint64_t>& before, std::uint32_t passes, std::uint32_t workers,
    std::uint32_t most_pass_parts,
    const std::function<std::uint64_t(const std::vector<WorkerRows>&)>& cycles);

}  // namespace tessera::sparse
