#pragma once

#include <functional>
#include <span>

#include "kernels/gemm/array_lists.h"
#include "kernels/gemm/vector_operand.h"
#include "sim/program/workload.h"

/// Whether what an array has computed is right.
namespace tessera::gemm {

/// A row of an operand as numbers.
using RowReader = std::function<void(std::uint32_t row, std::span<float> into)>;

struct ArrayCheck {
  const ArrayProduct* of;
  RowReader a, b;  ///< of all of B, where blocks alone are kept too
};

/// Compares C with plain loops, each element exact to the bit: all rows, or 1 in 64 as
/// compares_all() says.
CheckResult check_array(const ArrayCheck& check, const TensorReader& tensors,
                        const CheckRequest& request);

}  // namespace tessera::gemm
