#pragma once

#include <string>

#include "kernels/block_shape.h"
#include "kernels/layout.h"
#include "sim/data/element.h"

/// Types and blocks of a product with a sparse W, and what follows from them for layouts and tile
/// code.
namespace tessera::sparse {

using kernels::EvenSplit;
using kernels::Interval;
using kernels::Layout;
using program::Type;

/// How a block of W goes through the matrix unit, in runs of x_depth() inputs and y_depth() outputs
/// (code/block_run.inc).
struct BlockRun {
  std::uint32_t phases;        ///< instructions a position
  std::uint32_t inputs;        ///< 64-bit words of X a position
  std::uint32_t outputs;       ///< 64-bit words of partials a position
  std::uint32_t weight_rows;   ///< ldcw instructions a run
  std::uint32_t weight_words;  ///< 64-bit words of each
};

/// Of W X with W in blocks.
struct Shape {
  std::uint32_t block = 1;
  Type type = Type::f16;      ///< of W, X and Y
  Type partials = Type::f32;  ///< of sums; f16 only with f16
  Layout layout = Layout::blocked;
  bool gradient = false;  ///< of W's values: element by element, W's own rows and columns

  [[nodiscard]] std::uint32_t bytes() const { return data::element_bytes(type); }
  [[nodiscard]] std::uint32_t partial_bytes() const { return data::element_bytes(partials); }
  /// Elements of a 64-bit word.
  [[nodiscard]] std::uint32_t lanes() const { return 8 / bytes(); }
  /// Whether sums become results only when they are packed.
  [[nodiscard]] bool mixed() const { return type != partials; }
  [[nodiscard]] bool natural() const { return layout == Layout::natural; }
  /// Whether rows must become blocks and blocks rows; rows of single elements are both.
  [[nodiscard]] bool relayouts() const { return natural() && block > 1; }
  /// Whether blocks go through the matrix unit.
  [[nodiscard]] bool on_unit() const { return block > 1 && !gradient; }

  /// What the matrix unit takes and gives at a position.
  [[nodiscard]] kernels::BlockShape unit() const {
    return kernels::fixed_block_shape(type, partials);
  }
  /// Rows of X (of results) whose elements stand side by side for each column: a block's, or as
  /// many as the matrix unit takes (gives) at once.
  [[nodiscard]] std::uint32_t x_depth() const {
    return gradient ? 1 : std::min(block, unit().depth);
  }
  [[nodiscard]] std::uint32_t y_depth() const {
    return gradient ? 1 : std::min(block, unit().columns);
  }
  /// Of a block on the matrix unit.
  [[nodiscard]] bool halves_inputs() const { return on_unit() && x_depth() < block; }
  [[nodiscard]] bool halves_outputs() const { return on_unit() && y_depth() < block; }
  [[nodiscard]] BlockRun run() const;
  /// Positions that a loop of a worker takes at a time.
  [[nodiscard]] std::uint32_t unroll() const { return on_unit() && run().phases == 1 ? 2 : 1; }
  /// "16_f16_f32": what codelets of this block and these types are called after.
  [[nodiscard]] std::string name() const {
    const char* of = type == Type::f32 ? "f32" : mixed() ? "f16_f32" : "f16";
    return fmt::format("{}_{}", block, of);
  }
  /// Where value `number` of a block stands in the block by rows: [outputs of a run][input][output]
  /// is the order in which the weight store takes it.
  [[nodiscard]] std::size_t place_in_block(std::size_t number) const {
    const std::size_t outputs = y_depth();
    const std::size_t position = number / outputs;  // inputs of this and earlier outputs
    return (position / block * outputs + number % outputs) * block + position % block;
  }
};

inline BlockRun Shape::run() const {
  const kernels::BlockShape whole = unit();
  const std::uint32_t inputs = x_depth() * bytes() / 8;
  const std::uint32_t outputs = y_depth() * partial_bytes() / 8;
  const std::uint32_t row = y_depth() * bytes() / 8;  // of weights, of one input
  const std::uint32_t phases = std::max(inputs * whole.phases * 8 / whole.x_bytes(), outputs);
  // Full rows of the weight store lie one after the other.
  if (y_depth() == whole.columns) return {phases, inputs, outputs, 1, x_depth() * row};
  return {phases, inputs, outputs, x_depth(), row};
}

}  // namespace tessera::sparse
