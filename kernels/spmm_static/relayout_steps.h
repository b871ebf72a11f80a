#pragma once

#include <vector>

#include "kernels/spmm_static/assembly.h"
#include "kernels/spmm_static/relayout.h"

/// The steps that layout `natural` adds to a product. Buffers are by tile.
namespace tessera::spmm_static {

/// Rows of X to the tiles that make blocks of them.
program::Exchange rows_to_panels(const Assembly& assembly, const std::vector<BufferId>& given,
                                 const std::vector<BufferId>& panels);

/// Every tile's panels of X (to blocks) or Y (to rows).
program::ComputeSet transposed(Assembly& assembly, const std::vector<BufferId>& from,
                               const std::vector<BufferId>& to, Direction direction);

/// Rows made of blocks of Y to where they are wanted; `wanted(tile)` is the buffer there.
program::Exchange panels_to_rows(const Assembly& assembly, const std::vector<BufferId>& panels,
                                 BufferId (*wanted)(std::uint64_t tile));

}  // namespace tessera::spmm_static
