#pragma once

#include <cstdint>
#include <vector>

#include "sim/data/sparse_matrix.h"

/// Where the blocks of a seeded W lie. Sizes are in blocks, where nothing else is said. The work
/// grows with the blocks that are made, never with rows x columns, and nothing depends on host
/// threads.
namespace tessera::sparse {

/// Which blocks of a matrix hold nonzeros, by block rows: a matrix without values.
using BlockPattern = data::SparseMatrix;

/// ceil(density x places), where density x places that is whole but for its rounding stays whole.
std::uint64_t share_of(std::uint64_t places, double density);

/// Which of the things of these scores stay: the `wanted` largest, of equal ones the first.
std::vector<bool> largest(const std::vector<double>& scores, std::uint64_t wanted);

/// A set of `wanted` of the numbers below `places`, each such set equally likely, ascending. The
/// work is that of `wanted` (times its logarithm) or 64 x wanted draws.
std::vector<std::uint64_t> random_subset(std::uint64_t places, std::uint64_t wanted,
                                         std::uint64_t seed);

/// Exactly share_of(rows x columns, density) blocks, anywhere.
BlockPattern uniform_pattern(std::uint32_t rows, std::uint32_t columns, double density,
                             std::uint64_t seed);

/// As many blocks, of which the row of rank r (a seeded order of the rows) gets a share
/// proportional to (r + 1)^-skew, at most `columns`; anywhere in the row.
BlockPattern row_skewed_pattern(std::uint32_t rows, std::uint32_t columns, double density,
                                double skew, std::uint64_t seed);

/// `keep` seeded blocks of every `group` neighbours in a row; of a last group that is shorter, all
/// up to `keep`.
BlockPattern n_of_m_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t keep,
                            std::uint32_t group, std::uint64_t seed);

/// All blocks at most `bandwidth` columns from the diagonal, which goes from corner to corner.
BlockPattern banded_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t bandwidth);

/// Strips of `strip` rows, in each of which whole columns are kept: share_of(strips x columns,
/// density) of all, anywhere.
BlockPattern tile_wise_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t strip,
                               double density, std::uint64_t seed);

/// The flat butterfly of a `size` x `size` mask, a power of two: entries (i, j) where i and j are
/// equal or differ in one of their lowest `factors` bits, which are the sum of so many butterfly
/// factors (pixelated butterfly, arXiv 2112.00029).
struct Butterfly {
  std::uint32_t size;
  std::uint32_t factors;
  std::uint32_t global;  ///< first rows and columns of the matrix that are kept whole, elements
};

/// The largest mask that divides a matrix of m x k elements into entries of a block at least; 0 if
/// there is none of 2 at least.
std::uint32_t largest_butterfly(std::uint32_t m, std::uint32_t k, std::uint32_t block);

/// All blocks of side `block` of an m x k matrix that touch an entry of the mask, each (m / size) x
/// (k / size) elements, or a global row or column.
BlockPattern butterfly_pattern(std::uint32_t m, std::uint32_t k, std::uint32_t block,
                               const Butterfly& butterfly);

}  // namespace tessera::sparse
