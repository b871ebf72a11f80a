#pragma once

#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/plan.h"

namespace tessera::spmm_static {

/// The plan of one form of the product, what is pinned taken as it is.
Plan searched(const sparse::BlockMatrix& w, const sparse::Shape& shape, std::uint32_t n, Cost& cost,
              const Pinned& pinned, const Surroundings& around);

}  // namespace tessera::spmm_static
