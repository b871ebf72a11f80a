#include "sim/data/sparse_matrix.h"

namespace tessera::data {

namespace {

/// Stable counting sort by `key`, which is below `keys`.
template <class Key>
std::vector<Entry> sorted_by(const std::vector<Entry>& entries, std::uint32_t keys, Key key) {
  std::vector<std::uint64_t> begin(keys + std::size_t{1}, 0);
  for (const Entry& entry : entries) ++begin[key(entry) + std::size_t{1}];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<Entry> sorted(entries.size());
  for (const Entry& entry : entries) sorted[begin[key(entry)]++] = entry;
  return sorted;
}

}  // namespace

SparseMatrix from_entries(std::uint32_t rows, std::uint32_t columns, std::vector<Entry> entries) {
  entries = sorted_by(entries, columns, [](const Entry& entry) { return entry.column; });
  entries = sorted_by(entries, rows, [](const Entry& entry) { return entry.row; });

  SparseMatrix matrix{rows, columns, std::vector<std::uint64_t>(rows + std::size_t{1}, 0), {}, {}};
  matrix.column.reserve(entries.size());
  matrix.value.reserve(entries.size());
  const Entry* previous = nullptr;
  for (const Entry& entry : entries) {
    if (previous != nullptr && previous->row == entry.row && previous->column == entry.column) {
      matrix.value.back() += entry.value;
    } else {
      matrix.column.push_back(entry.column);
      matrix.value.push_back(entry.value);
      ++matrix.row_begin[entry.row + std::size_t{1}];
    }
    previous = &entry;
  }
  for (std::size_t i = 1; i < matrix.row_begin.size(); ++i) {
    matrix.row_begin[i] += matrix.row_begin[i - 1];
  }
  return matrix;
}

}  // namespace tessera::data
