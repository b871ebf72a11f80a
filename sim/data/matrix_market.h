#pragma once

#include <filesystem>
#include <string_view>

#include "sim/data/sparse_matrix.h"

namespace tessera::data {

/// Reads a Matrix Market file (https://math.nist.gov/MatrixMarket/formats.html): coordinate or
/// array; real, integer or pattern; general, symmetric or skew-symmetric (the mirrored half is
/// filled in). Entries given twice are added. Leaves out: complex and Hermitian. Every error is a
/// UserError `path:line: ...`.
SparseMatrix read_matrix_market(const std::filesystem::path& path);

/// Parses the text of a file; errors show `name`.
SparseMatrix parse_matrix_market(std::string_view text, std::string_view name);

/// Reads only the size from the file's header.
MatrixSize matrix_market_size(const std::filesystem::path& path);

}  // namespace tessera::data
