#pragma once

#include "kernels/gemm/geometry.h"
#include "sim/data/dense_operand.h"

namespace tessera::gemm {

/// The program that carries a plan out. `geometry`, `a` and `b` outlive it.
program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const data::DenseOperand& a, const data::DenseOperand& b);

}  // namespace tessera::gemm
