#pragma once

#include <cstdint>
#include <vector>

#include "sim/data/sparse_matrix.h"

/// Patterns of the blocks of a seeded W. Sizes are in blocks unless stated otherwise. Run time
/// grows with the number of blocks, never with rows x columns, and results do not depend on host
/// threads.
namespace tessera::sparse {

/// The nonzero blocks of a matrix, by block row: a matrix without values.
using BlockPattern = data::SparseMatrix;

/// ceil(density x places), robust against rounding errors of integral products.
std::uint64_t share_of(std::uint64_t places, double density);

/// Marks the `wanted` largest scores, of equal ones the first.
std::vector<bool> largest(const std::vector<double>& scores, std::uint64_t wanted);

/// A uniformly random set of `wanted` of the numbers below `places`, ascending. Runs in time n log
/// n of `wanted`, or with 64 x wanted draws.
std::vector<std::uint64_t> random_subset(std::uint64_t places, std::uint64_t wanted,
                                         std::uint64_t seed);

/// Exactly share_of(rows x columns, density) blocks, uniformly random.
BlockPattern uniform_pattern(std::uint32_t rows, std::uint32_t columns, double density,
                             std::uint64_t seed);

/// As many blocks as uniform_pattern(); the row of rank r (in a seeded order of rows) gets a share
/// proportional to (r + 1)^-skew, at most `columns`, at random places in the row.
BlockPattern row_skewed_pattern(std::uint32_t rows, std::uint32_t columns, double density,
                                double skew, std::uint64_t seed);

/// `keep` random blocks of every `group` neighbours in a row; a shorter last group keeps up to
/// `keep`.
BlockPattern n_of_m_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t keep,
                            std::uint32_t group, std::uint64_t seed);

/// All blocks at most `bandwidth` columns from the diagonal, which connects the corners.
BlockPattern banded_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t bandwidth);

/// Strips of `strip` rows in which whole columns are kept: share_of(strips x columns, density) of
/// all, at random.
BlockPattern tile_wise_pattern(std::uint32_t rows, std::uint32_t columns, std::uint32_t strip,
                               double density, std::uint64_t seed);

/// The flat butterfly of a `size` x `size` mask, a power of two: the support of the sum of
/// `factors` butterfly factors, entries (i, j) where i and j are equal or differ in one of their
/// lowest `factors` bits (pixelated butterfly, arXiv 2112.00029).
struct Butterfly {
  std::uint32_t size;
  std::uint32_t factors;
  std::uint32_t global;  ///< first rows and columns of the matrix that are kept whole, in elements
};

/// The largest mask whose entries in an m x k matrix are at least one block; 0 if there is none of
/// size 2 or more.
std::uint32_t largest_butterfly(std::uint32_t m, std::uint32_t k, std::uint32_t block);

/// All blocks of side `block` of an m x k matrix that touch an entry of the mask (m / size x k /
/// size elements), or a global row or column.
BlockPattern butterfly_pattern(std::uint32_t m, std::uint32_t k, std::uint32_t block,
                               const Butterfly& butterfly);

}  // namespace tessera::sparse
