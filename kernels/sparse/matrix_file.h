#pragma once

#include <string>

#include "kernels/sparse/weights.h"
#include "sim/data/sparse_matrix.h"

/// W of a file: .mtx, .smtx (a pattern: seeded values) or .npy (its elements that are not zero).
namespace tessera::sparse {

/// The file's rows and columns, from its header. Throws UserError for a name that does not end so,
/// for a malformed header and for a matrix without elements.
data::MatrixSize matrix_file_size(const std::string& file);

/// The file's matrix, rounded to dtype. Throws UserError for a value outside of it too.
data::SparseMatrix read_matrix_file(const WeightOptions& weights);

}  // namespace tessera::sparse
