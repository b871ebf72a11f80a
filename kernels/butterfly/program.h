#pragma once

#include "kernels/butterfly/geometry.h"
#include "kernels/butterfly/twiddles.h"
#include "kernels/sample.h"
#include "sim/data/dense_operand.h"

namespace tessera::butterfly {

/// What is multiplied: X (for grad_input Yg) has a row a feature; of complex numbers two columns
/// each, the real and the imaginary part.
struct Operands {
  data::DenseOperand x;
  data::DenseOperand gradient;  ///< Yg, for grad_twiddles
  Twiddles twiddles;
};

/// The program. Tile t's part of Y lies in the buffer of the same number; in layout blocked that of
/// round r in the one that has r times the machine's tiles more.
program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const Operands& operands);

/// What tile 0 does in it, as a program of one tile: its swaps are with itself, operands are zeros.
kernels::Sample build_sample(const Geometry& geometry, const MachineConfig& machine);

}  // namespace tessera::butterfly
