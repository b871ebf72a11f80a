#pragma once

#include <string>

#include "kernels/sparse/operand/pattern.h"
#include "kernels/sparse/operand/weights.h"
#include "sim/data/sparse_matrix.h"

/// Sources of the elements of W: a seed, a grid or graph of single elements, or a file.
namespace tessera::sparse {

/// Random streams of a seed for each kind of data (sim/data/random.h).
constexpr std::uint64_t kPatternStream = 0;
constexpr std::uint64_t kValueStream = 1;
constexpr std::uint64_t kDenseStream = 2;     ///< X
constexpr std::uint64_t kSampleStream = 3;    ///< rows that a check samples
constexpr std::uint64_t kSignStream = 4;      ///< signs of a Freivalds test
constexpr std::uint64_t kRowStream = 5;       ///< seeds and order of rows
constexpr std::uint64_t kGradientStream = 6;  ///< Yg
constexpr std::uint64_t kLeftStream = 7;      ///< U of a product U V^T
constexpr std::uint64_t kRightStream = 8;     ///< V

/// Element (i, j) of a seeded W[m, k], equal in every pattern and block size, so that a pattern is
/// a mask over one dense matrix: uniform in [-1, 1), exact in the type.
double seeded_value(const WeightOptions& weights, std::uint64_t row, std::uint64_t column,
                    std::uint64_t columns);

/// Sets every entry of `w` to its seeded value.
void fill_seeded(data::SparseMatrix& w, const WeightOptions& weights);

/// A matrix with the blocks of `pattern`, full inside W[m, k].
BlockMatrix filled(const BlockPattern& pattern, const WeightOptions& weights);

/// The Laplacian of the first m points, x fastest, of a square (2 dimensions) or cubic (3) grid
/// with the smallest side that holds m points: 4 or 6 on the diagonal, -1 for each neighbour.
data::SparseMatrix poisson_matrix(std::uint32_t m, unsigned dimensions);

/// An R-MAT graph of m vertices (Chakrabarti, Zhan, Faloutsos, SDM 2004) with Graph500's a = 0.57,
/// b = c = 0.19, vertices not renamed: share_of(m x m, density) edges are drawn and duplicates
/// dropped. Values are seeded.
data::SparseMatrix rmat_matrix(const WeightOptions& weights);

/// Rows and columns of a .mtx, .smtx or .npy file, from its header. Throws UserError for another
/// suffix, a malformed header and an empty matrix.
data::MatrixSize matrix_file_size(const std::string& file);

/// Sets the keys for the rows and columns of W from a file's header; refuses given values that
/// differ.
struct SizeKey {
  std::string_view key;
  std::uint32_t& value;
};
void take_file_size(config::Fields& fields, const std::string& file, SizeKey rows, SizeKey columns);

/// The file's matrix, rounded to dtype: for .smtx a pattern with seeded values, for .npy the
/// nonzero elements. Throws UserError for values outside its range too.
data::SparseMatrix read_matrix_file(const WeightOptions& weights);

}  // namespace tessera::sparse
