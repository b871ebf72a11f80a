#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::report {

/// A column of numbers or of words.
struct Column {
  std::string name;
  std::vector<double> values;      ///< one per row; for words: indices into `words`
  std::vector<std::string> words;  ///< distinct texts in order of appearance; empty: numbers
  unsigned decimals = 0;           ///< digits after the point, equal in all rows
  [[nodiscard]] const std::string& word(std::size_t row) const {
    return words.at(static_cast<std::size_t>(values.at(row)));
  }
};

/// A CSV file such as steps.csv or tiles.csv, read back. Numbers are exact below 2^53.
struct Table {
  std::size_t rows = 0;
  std::vector<Column> columns;

  [[nodiscard]] const Column* find(std::string_view name) const;
  /// Throws Defect if there is no such column; parse_table() has checked the needed ones.
  [[nodiscard]] const Column& at(std::string_view name) const;
};

/// Reads a table with a heading; fields may be quoted. Refuses a file that lacks a `needed` column.
/// Throws UserError naming file and line.
Table parse_table(std::string_view csv, const std::string& file,
                  const std::vector<std::string_view>& needed);

}  // namespace tessera::report
