#include "sim/data/matrix_market.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/base/errors.h"
#include "sim/data/lines.h"
#include "sim/data/read_file.h"

namespace tessera::data {

namespace {

struct Header {
  bool array = false;
  bool pattern = false;
  enum class Symmetry { general, symmetric, skew } symmetry = Symmetry::general;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint64_t entries = 0;
};

/// Index in `allowed` of the line's next word, ignoring case.
std::size_t choice(Lines& lines, std::string_view what,
                   std::initializer_list<std::string_view> allowed) {
  std::string found(lines.word());
  std::ranges::transform(found, found.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto match = std::ranges::find(allowed, found);
  if (match == allowed.end()) {
    lines.fail("{}: found '{}', allowed: {}", what, found, fmt::join(allowed, ", "));
  }
  return static_cast<std::size_t>(match - allowed.begin());
}

Header read_header(Lines& lines) {
  Header header;
  if (!lines.next() || lines.word() != "%%MatrixMarket") {
    lines.fail("a Matrix Market file starts with '%%MatrixMarket matrix ...'");
  }
  choice(lines, "object", {"matrix"});
  header.array = choice(lines, "format", {"coordinate", "array"}) == 1;
  header.pattern = choice(lines, "values", {"real", "integer", "pattern", "double"}) == 2;
  header.symmetry = static_cast<Header::Symmetry>(
      choice(lines, "symmetry", {"general", "symmetric", "skew-symmetric"}));
  if (header.array && header.pattern) lines.fail("an array holds values, it cannot be a pattern");

  if (!lines.next_with_data()) lines.fail("the size line is missing");
  constexpr std::string_view kCount = "a whole number below 2^32";
  header.rows = lines.number<std::uint32_t>("number of rows", kCount);
  header.columns = lines.number<std::uint32_t>("number of columns", kCount);
  header.entries = header.array
                       ? std::uint64_t{header.rows} * header.columns
                       : lines.number<std::uint64_t>("number of entries", "a whole number");
  lines.expect_end();
  if (header.symmetry != Header::Symmetry::general && header.rows != header.columns) {
    lines.fail("a symmetric matrix is square; found {} x {}", header.rows, header.columns);
  }
  return header;
}

void add(std::vector<Entry>& entries, const Header& header, Entry entry) {
  entries.push_back(entry);
  if (header.symmetry == Header::Symmetry::general || entry.row == entry.column) return;
  const double mirrored = header.symmetry == Header::Symmetry::skew ? -entry.value : entry.value;
  entries.push_back({entry.column, entry.row, mirrored});
}

double read_value(Lines& lines) {
  const auto value = lines.number<double>("value", "a number");
  if (!std::isfinite(value)) lines.fail("value: found {}, expected a finite number", value);
  return value;
}

std::uint32_t read_index(Lines& lines, std::string_view what, std::uint32_t count) {
  const auto found = lines.number<std::uint64_t>(what, fmt::format("1 to {}", count));
  if (found < 1 || found > count) lines.fail("{}: found {}, allowed 1 to {}", what, found, count);
  return static_cast<std::uint32_t>(found - 1);
}

std::vector<Entry> read_coordinates(Lines& lines, const Header& header) {
  std::vector<Entry> entries;
  // The stated count is not trusted before the lines are read: a wrong one must not exhaust memory.
  entries.reserve(std::min<std::uint64_t>(header.entries * 2, 1u << 20));
  for (std::uint64_t i = 0; i < header.entries; ++i) {
    if (!lines.next_with_data()) {
      lines.fail("the file ends after {} of {} entries", i, header.entries);
    }
    const std::uint32_t row = read_index(lines, "row", header.rows);
    const std::uint32_t column = read_index(lines, "column", header.columns);
    const double value = header.pattern ? 1.0 : read_value(lines);
    lines.expect_end();
    if (header.symmetry == Header::Symmetry::skew && row == column) {
      lines.fail("a skew-symmetric matrix has no entry on its diagonal");
    }
    add(entries, header, {row, column, value});
  }
  return entries;
}

std::vector<Entry> read_array(Lines& lines, const Header& header) {
  using Symmetry = Header::Symmetry;
  std::vector<Entry> entries;
  for (std::uint32_t column = 0; column < header.columns; ++column) {
    const std::uint32_t first = header.symmetry == Symmetry::general     ? 0
                                : header.symmetry == Symmetry::symmetric ? column
                                                                         : column + 1;
    for (std::uint32_t row = first; row < header.rows; ++row) {
      if (!lines.next_with_data())
        lines.fail("the file ends before row {} of column {}", row + 1, column + 1);
      const double value = read_value(lines);
      lines.expect_end();
      if (value != 0) add(entries, header, {row, column, value});
    }
  }
  return entries;
}

}  // namespace

SparseMatrix parse_matrix_market(std::string_view text, std::string_view name) {
  Lines lines(text, name);
  const Header header = read_header(lines);
  std::vector<Entry> entries =
      header.array ? read_array(lines, header) : read_coordinates(lines, header);
  if (lines.next_with_data()) lines.fail("found more lines than the size line announces");
  return from_entries(header.rows, header.columns, std::move(entries));
}

MatrixSize matrix_market_size(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const std::string name = path.string();
  Lines lines(text, name);
  const Header header = read_header(lines);
  return {header.rows, header.columns};
}

SparseMatrix read_matrix_market(const std::filesystem::path& path) {
  return parse_matrix_market(read_file(path), path.string());
}

}  // namespace tessera::data
