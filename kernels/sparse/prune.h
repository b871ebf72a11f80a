#pragma once

#include "kernels/sparse/block_matrix.h"

namespace tessera::sparse {

/// The share_of(all places of blocks, density) blocks of `w` of the largest L2 norm, the first of
/// equal ones; all if there are fewer. Their elements that are not zero count as nonzeros.
BlockMatrix pruned_to_blocks(const BlockMatrix& w, double density);

}  // namespace tessera::sparse
