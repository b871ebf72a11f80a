#pragma once

#include "kernels/sparse/weights.h"
#include "sim/data/sparse_matrix.h"

/// Square matrices that are made of single elements, whatever the block.
namespace tessera::sparse {

/// The Laplacian of the first m points, x fastest, of a square (2 dimensions) or cubic (3) grid
/// with the smallest side that holds m points: 4 or 6 on the diagonal, -1 for each neighbour.
data::SparseMatrix poisson_matrix(std::uint32_t m, unsigned dimensions);

/// An R-MAT graph of m vertices (Chakrabarti, Zhan, Faloutsos, SDM 2004) with Graph500's a = 0.57,
/// b = c = 0.19, vertices not renamed: share_of(m x m, density) edges are drawn, those drawn again
/// dropped. Values are seeded.
data::SparseMatrix rmat_matrix(const WeightOptions& weights);

}  // namespace tessera::sparse
