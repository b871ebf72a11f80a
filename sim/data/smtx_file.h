#pragma once

#include <filesystem>
#include <string_view>

#include "sim/data/sparse_matrix.h"

namespace tessera::data {

/// Reads a .smtx file of the Deep Learning Matrix Collection (Gale, Zaharia, Young, Elsen, SC'20):
/// "rows, columns, nonzeros", then a line of rows + 1 offsets, then a line of 0-based column
/// indices. The format holds the pattern only: every value is 1. Columns may be unsorted within a
/// row. Every error is a UserError `path:line: ...`.
SparseMatrix read_smtx(const std::filesystem::path& path);

/// Parses the text of a file; errors show `name`.
SparseMatrix parse_smtx(std::string_view text, std::string_view name);

/// Reads only the size from the file's first line.
MatrixSize smtx_size(const std::filesystem::path& path);

}  // namespace tessera::data
