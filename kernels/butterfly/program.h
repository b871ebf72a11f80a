#pragma once

#include "kernels/butterfly/geometry.h"
#include "kernels/butterfly/twiddles.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/description.h"

namespace tessera::butterfly {

/// What is multiplied: X (for grad_input Yg) has a row a feature; of complex numbers two columns
/// each, the real and the imaginary part.
struct Operands {
  data::DenseOperand x;
  data::DenseOperand gradient;  ///< Yg, for grad_twiddles
  Twiddles twiddles;
};

struct Codes;

/// The program that carries a plan out, with the tensor of its result. Without operands it is good
/// for estimates alone. All arguments but `geometry` and `machine` outlive it.
plan::Description describe_program(const Geometry& geometry, const MachineConfig& machine,
                                   const Codes& codes, const Operands* operands);

/// The tiles that stand for all others: the fullest, and the one without a pair that takes the same
/// twiddles.
std::vector<plan::Tile> representatives(const Geometry& geometry);

/// The program that carries a plan out. `operands` outlives it.
program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const Operands& operands);

}  // namespace tessera::butterfly
