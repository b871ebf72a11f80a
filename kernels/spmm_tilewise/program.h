#pragma once

#include <memory>

#include "kernels/spmm_tilewise/plan.h"
#include "sim/data/dense_operand.h"

namespace tessera::spmm_tilewise {

/// The tile code of a product: gemm's, and for single elements that of sparse/code.
struct TileCode {
  elf::KernelCode gemm{"gemm"};
  elf::KernelCode sparse{"sparse/code"};
};

/// Where A or C lies: its panels of rows, each by columns.
kernels::EvenStorage panel_storage(const Problem& problem, std::uint32_t columns,
                                   std::uint32_t tiles);

/// Per superstep one exchange and one product; C is scattered at the end. `a` may be absent where
/// only time and memory are wanted. All arguments outlive the description.
plan::Description describe_program(const Problem& problem, std::shared_ptr<const Plan> plan,
                                   const MachineConfig& machine, const TileCode& code,
                                   const data::DenseOperand* a);

}  // namespace tessera::spmm_tilewise
