#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/block_shape.h"
#include "kernels/layout.h"
#include "sim/data/element.h"

/// Types and blocks of a product with a sparse W, and the layouts and tile code that follow from
/// them.
namespace tessera::sparse {

using kernels::Layout;
using program::Type;

/// Types, blocks and layout of W X, with W in blocks.
struct Shape {
  std::uint32_t block = 1;
  Type type = Type::f16;      ///< type of W, X and Y
  Type partials = Type::f32;  ///< type of sums; f16 only with f16
  Layout layout = Layout::blocked;
  bool gradient = false;  ///< gradient of W's values, by element, by W's own rows and columns
  kernels::BlockShape unit = {};  ///< the blocks' multiplier: a matrix unit, or vector code

  [[nodiscard]] std::uint32_t bytes() const { return data::element_bytes(type); }
  [[nodiscard]] std::uint32_t partial_bytes() const { return data::element_bytes(partials); }
  /// Elements of a 64-bit word.
  [[nodiscard]] std::uint32_t lanes() const { return 8 / bytes(); }
  /// True if sums are converted to results in a separate step.
  [[nodiscard]] bool mixed() const { return type != partials; }
  [[nodiscard]] bool natural() const { return layout == Layout::natural; }
  /// True if rows are converted to blocks and back; single elements need no conversion.
  [[nodiscard]] bool relayouts() const { return natural() && block > 1; }
  /// True if W is multiplied block by block, not element by element.
  [[nodiscard]] bool in_blocks() const { return block > 1 && !gradient; }
  [[nodiscard]] bool on_unit() const { return in_blocks() && unit.on_unit(); }

  /// Rows of X (of results) whose elements are adjacent for each column: a block's, or as many as
  /// `unit` reads (writes) at once.
  [[nodiscard]] std::uint32_t x_depth() const {
    return in_blocks() ? std::min(block, unit.depth) : 1;
  }
  [[nodiscard]] std::uint32_t y_depth() const {
    return in_blocks() ? std::min(block, unit.columns) : 1;
  }
  /// A block is multiplied in input_runs() x output_runs() runs of the unit's inputs and outputs
  /// (code/block_run.inc).
  [[nodiscard]] std::uint32_t input_runs() const { return in_blocks() ? block / x_depth() : 1; }
  [[nodiscard]] std::uint32_t output_runs() const { return in_blocks() ? block / y_depth() : 1; }
  /// Products of a block that are summed before the sum is rounded to partials.
  [[nodiscard]] std::uint32_t summed() const { return on_unit() ? x_depth() : 1; }
  /// Rows of x per iteration of a worker's loop: two if each is one instruction.
  [[nodiscard]] std::uint32_t unroll() const {
    if (!on_unit()) return 1;
    const bool one = x_depth() * unit.phases <= unit.depth && y_depth() * partial_bytes() <= 8;
    return one ? 2 : 1;
  }
  /// "16_f16_f32_16x8": name suffix of the codelets for this block and unit.
  [[nodiscard]] std::string name() const { return fmt::format("{}_{}", block, unit.name()); }
  /// Row-major index in the block of value `number` in the order of weight loads, [outputs of a
  /// run][input][output].
  [[nodiscard]] std::size_t place_in_block(std::size_t number) const {
    const std::size_t outputs = y_depth();
    const std::size_t position = number / outputs;  // input, counted over all outputs
    return (position / block * outputs + number % outputs) * block + position % block;
  }
};

/// Products of these blocks on a machine, from which a planner chooses: first with blocks of the
/// matrix unit, if it supports blocks no larger than W's, then in vector code. `pinned`: only that
/// form; throws KeyError naming `key` if the unit does not support such blocks. Sums of f32 are
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
    if (block == 1) break;  // single elements have no block products
  }
  return shapes;
}

// Division of a tile's rows of unequal work among its workers, in passes.

/// A worker's part: rows and passes.
struct WorkerRows {
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_pass = 0;
  std::uint32_t passes = 0;
};

/// Rectangles of rows and passes, one for each worker, some empty: passes are divided in
/// `pass_parts`, rows over the workers left for each. `before`: cumulative work before each row,
/// and in total.
std::vector<WorkerRows> rectangles(const std::vector<std::uint64_t>& before, std::uint32_t passes,
                                   std::uint32_t workers, std::uint32_t pass_parts);

/// The rectangles with 1 to `most_pass_parts` pass parts that give the least `cycles`.
std::vector<WorkerRows> divide_rows(
    const std::vector<std::uint64_t>& before, std::uint32_t passes, std::uint32_t workers,
    std::uint32_t most_pass_parts,
    const std::function<std::uint64_t(const std::vector<WorkerRows>&)>& cycles);

}  // namespace tessera::sparse
