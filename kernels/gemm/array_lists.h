#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/gemm/array_plan.h"
#include "kernels/gemm/vector_operand.h"
#include "sim/program/program.h"
#include "sim/program/workload.h"

/// The program of a product on an array of cores.
namespace tessera::gemm {

/// Writes a row of an operand, or a tile of kept blocks, as it lies in memory.
using RowWriter = std::function<void(std::uint32_t row, std::span<std::byte> into)>;

/// What users know the operands as. `transposed`: C as the transpose of what is computed.
struct ArrayNames {
  const char* a = "A";
  const char* b = "B";
  const char* c = "C";
  bool transposed = false;
};

struct ArrayProduct {
  Product product;
  ArrayGrid grid;
  arrays::Array array;
  std::uint32_t shift;
  RowWriter a, b;  ///< tiles of kept blocks: column of tiles by column, step by step
  ArrayNames names = {};
};

/// A, B and C lie in DDR, row after row, padded to whole blocks. Steps of a core's row of A and of
/// its column of B come through memory tiles, each with two buffers there and in the core, and
/// leave as tiles of C, which a memory tile gathers from its column. Block of rows by block of rows
/// DDR waits for the host's list of descriptors, when all of the list before is stored.
program::Program make_array_program(const ArrayProduct& of);

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
