#pragma once

#include <cstdint>

#include "kernels/arrays/array.h"
#include "kernels/gemm/vector_product.h"

/// Products of types with vectors on an array of cores with memory tiles and DDR.
namespace tessera::gemm {

/// Where a core's buffers lie. Throws UserError above 2^32 bytes.
struct CoreLayout {
  explicit CoreLayout(const VectorGrid& grid);
  std::uint32_t a, b, c, sums, zeros, end;
  std::uint32_t a_slot, b_slot, c_slot;  ///< bytes from a buffer to the other
};

/// The streams that it sends over.
arrays::Array array_of(const MachineConfig& machine);

/// The search of vector_plan(), by measured calls and the streams' rates.
Searched search_array(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks);

/// A, B and C lie in DDR, row after row, padded to whole blocks. Steps of a core's row of A and of
/// its column of B come through memory tiles, each with two buffers there and in the core, and
/// leave as tiles of C, which a memory tile gathers from its column. Block of rows by block of rows
/// DDR waits for the host's list of descriptors, when all of the list before is stored.
program::Program make_array_program(const VectorProduct& of, const arrays::Array& array);

}  // namespace tessera::gemm
