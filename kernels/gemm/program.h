#pragma once

#include "kernels/gemm/geometry.h"
#include "kernels/gemm/relayout.h"
#include "sim/data/dense_operand.h"

namespace tessera::gemm {

/// The program that carries a plan out. `geometry`, `a` and `b` outlive it.
program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const data::DenseOperand& a, const data::DenseOperand& b);

/// Where the steps of a product go.
struct Destination {
  program::Program& program;
  program::Sequence& steps;  ///< of the program
  Vertices& vertices;        ///< what they call belongs to the program
  bool measured = true;
};

/// Adds the steps of a plan of layout natural, between others that make A and B and use C.
void append_product(const Geometry& geometry, const MachineConfig& machine,
                    const Relayout::Matrices& matrices, const Destination& destination);

}  // namespace tessera::gemm
