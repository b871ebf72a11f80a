#pragma once

#include "kernels/spmm_dynamic/cells.h"
#include "kernels/spmm_dynamic/plan.h"

/// Partial results become results: they are sent to those who add them up, added and packed.
namespace tessera::spmm_dynamic {

struct Sums {
  program::Program& program;
  const Cells& cells;
  const Shape& shape;
  const Buffers& bytes;
  std::uint32_t contexts;
};

/// Appends the steps that leave every cell's share in its buffer `results`.
void add_sums(const Sums& sums, bool measured, program::Sequence& steps);

}  // namespace tessera::spmm_dynamic
