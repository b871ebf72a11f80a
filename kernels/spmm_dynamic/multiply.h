#pragma once

#include <string>

#include "kernels/spmm_dynamic/cells.h"
#include "kernels/spmm_dynamic/plan.h"

/// What tiles compute from the pools that they hold.
namespace tessera::spmm_dynamic {

struct Multiply {
  program::Program& program;
  const Cells& cells;
  const PoolShape& pool;
  const Buffers& bytes;
};

/// Every tile computes what is for it in the pool that it holds in buffer `side`.
program::ComputeSet products(const Multiply& multiply, const std::string& name, int side);

/// Every tile clears its partial results.
program::ComputeSet zeros(const Multiply& multiply, const std::string& name);

}  // namespace tessera::spmm_dynamic
