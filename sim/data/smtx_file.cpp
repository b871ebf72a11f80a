#include "sim/data/smtx_file.h"

#include <algorithm>
#include <string>

#include "sim/data/lines.h"
#include "sim/data/read_file.h"

namespace tessera::data {

namespace {

constexpr std::string_view kBlank = " \t\r,";  // the collection's first lines have commas

struct SmtxHeader {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint64_t entries = 0;
};

SmtxHeader read_smtx_header(Lines& lines) {
  if (!lines.next()) lines.fail("a .smtx file starts with 'rows, columns, nonzeros'");
  constexpr std::string_view kCount = "a whole number below 2^32";
  SmtxHeader header;
  header.rows = lines.number<std::uint32_t>("number of rows", kCount);
  header.columns = lines.number<std::uint32_t>("number of columns", kCount);
  header.entries = lines.number<std::uint64_t>("number of nonzeros", "a whole number");
  lines.expect_end();
  return header;
}

/// Reads the rows + 1 row offsets.
std::vector<std::uint64_t> read_offsets(Lines& lines, const SmtxHeader& header) {
  if (!lines.next()) lines.fail("the line of {} row offsets is missing", header.rows + 1ULL);
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i <= header.rows; ++i) {
    const auto offset = lines.number<std::uint64_t>("row offset", "a whole number");
    const std::uint64_t least = offsets.empty() ? 0 : offsets.back();
    const std::uint64_t most = i == 0 ? 0 : header.entries;
    if (offset < least || offset > most) {
      lines.fail("row offset {}: found {}, allowed {} to {}", i, offset, least, most);
    }
    offsets.push_back(offset);
  }
  lines.expect_end();
  if (offsets.back() != header.entries) {
    lines.fail("the last row offset is {}, but line 1 announces {} nonzeros", offsets.back(),
               header.entries);
  }
  return offsets;
}

std::vector<std::uint32_t> read_columns(Lines& lines, const SmtxHeader& header) {
  if (!lines.next() && header.entries > 0) {
    lines.fail("the line of {} column indices is missing", header.entries);
  }
  std::vector<std::uint32_t> columns;
  for (std::uint64_t i = 0; i < header.entries; ++i) {
    const auto column = lines.number<std::uint64_t>("column", "a whole number");
    if (column >= header.columns) {
      lines.fail("column: found {}, allowed 0 to {}", column, header.columns - 1LL);
    }
    columns.push_back(static_cast<std::uint32_t>(column));
  }
  if (header.entries > 0) lines.expect_end();
  if (lines.next_with_data()) lines.fail("found more lines than offsets and columns");
  return columns;
}

}  // namespace

SparseMatrix parse_smtx(std::string_view text, std::string_view name) {
  Lines lines(text, name, kBlank);
  const SmtxHeader header = read_smtx_header(lines);
  SparseMatrix matrix{header.rows, header.columns, read_offsets(lines, header), {}, {}};
  matrix.column = read_columns(lines, header);
  for (std::uint32_t row = 0; row < matrix.rows; ++row) {
    const auto first = matrix.column.begin() + static_cast<std::ptrdiff_t>(matrix.row_begin[row]);
    const auto last =
        matrix.column.begin() + static_cast<std::ptrdiff_t>(matrix.row_begin[row + 1]);
    std::sort(first, last);
    if (const auto twice = std::adjacent_find(first, last); twice != last) {
      throw UserError("{}:3: row {} names column {} twice", name, row, *twice);
    }
  }
  matrix.value.assign(matrix.column.size(), 1.0);
  return matrix;
}

SparseMatrix read_smtx(const std::filesystem::path& path) {
  return parse_smtx(read_file(path), path.string());
}

MatrixSize smtx_size(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const std::string name = path.string();
  Lines lines(text, name, kBlank);
  const SmtxHeader header = read_smtx_header(lines);
  return {header.rows, header.columns};
}

}  // namespace tessera::data
