#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::data {

/// A sparse matrix in CSR: row i holds entries [row_begin[i], row_begin[i+1]), with ascending
/// columns.
struct SparseMatrix {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::uint64_t> row_begin;  ///< rows + 1 offsets
  std::vector<std::uint32_t> column;     ///< column of each entry
  std::vector<double> value;             ///< by entry; 1 where the file gives a pattern only
  std::uint64_t rounded = 0;             ///< values changed by rounding to the requested type

  [[nodiscard]] std::uint64_t entries() const { return column.size(); }
};

/// Rows and columns of a matrix.
struct MatrixSize {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// One entry of a matrix given in any order.
struct Entry {
  std::uint32_t row;
  std::uint32_t column;
  double value;
};

/// Sorts entries by row and column; adds entries at the same place in the order given.
SparseMatrix from_entries(std::uint32_t rows, std::uint32_t columns, std::vector<Entry> entries);

}  // namespace tessera::data
