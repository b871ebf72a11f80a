#include "sim/report/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/sizes.h"
#include "sim/config/nearest.h"

namespace tessera::report {
namespace {

/// Parses a table field by field.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  std::vector<std::string> line() {
    std::vector<std::string> fields;
    ++line_;
    do {
      fields.push_back(field());
    } while (take(','));
    if (!take('\n') && !at_end()) fail("found text after a closing quote");
    return fields;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError("{}:{}: {}", file_, line_, problem);
  }

 private:
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string field() {
    if (!take('"')) {
      const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
      const std::string_view found = text_.substr(at_, end - at_);
      at_ = end;
      return std::string(found);
    }
    std::string found;
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == '"' && !take('"')) return found;
      found += c;
    }
    fail("found an open quote");
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
};

bool read_number(const std::string& field, Column& column) {
  const std::optional<double> value = number_in<double>(field);
  if (!value || !std::isfinite(*value)) return false;
  const std::size_t point = field.find('.');
  if (point != std::string::npos) {
    column.decimals = std::max(column.decimals, static_cast<unsigned>(field.size() - point - 1));
  }
  column.values.push_back(*value);
  return true;
}

void add_word(const std::string& field, Column& column) {
  const auto known = std::ranges::find(column.words, field);
  column.values.push_back(static_cast<double>(known - column.words.begin()));
  if (known == column.words.end()) column.words.push_back(field);
}

/// The first row decides whether a column holds numbers.
void add_row(const std::vector<std::string>& fields, Table& table, const Reader& reader) {
  if (fields.size() != table.columns.size()) {
    reader.fail(fmt::format("found {} fields, expected {}", fields.size(), table.columns.size()));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Column& column = table.columns[i];
    const bool words = !column.words.empty();
    if (!words && read_number(fields[i], column)) continue;
    if (!words && table.rows > 0) {
      reader.fail(fmt::format("{}: found '{}', expected a number", column.name, fields[i]));
    }
    add_word(fields[i], column);
  }
  ++table.rows;
}

/// Refuses numbers that the page cannot show exactly.
void require_exact(const Column& column, const std::string& file) {
  constexpr double kExact = 0x1p53;
  const double unit = std::pow(10.0, column.decimals);
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (std::abs(column.values[row]) * unit < kExact) continue;
    throw UserError(
        "{}:{}: {}: found {} beside numbers of {} decimals, allowed what "
        "53 bits hold",
        file, row + 2, column.name, column.values[row], column.decimals);
  }
}

}  // namespace

const Column* Table::find(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &Column::name);
  return found == columns.end() ? nullptr : &*found;
}

const Column& Table::at(std::string_view name) const {
  const Column* column = find(name);
  check(column != nullptr, "report: no column {}", name);
  return *column;
}

Table parse_table(std::string_view csv, const std::string& file,
                  const std::vector<std::string_view>& needed) {
  Reader reader(csv, file);
  Table table;
  for (const std::string& name : reader.line()) table.columns.push_back({name, {}, {}, 0});
  while (!reader.at_end()) add_row(reader.line(), table, reader);
  for (const Column& column : table.columns) require_exact(column, file);
  for (const std::string_view name : needed) {
    const Column* column = table.find(name);
    if (column == nullptr) {
      throw UserError("{}: the column {} is missing", file, name);
    }
    const bool of_words = name == "name" || name == "kind" || name == "category";
    if (table.rows > 0 && column->words.empty() == of_words) {
      throw UserError("{}: {}: found {}", file, name,
                      of_words ? "a number, expected a name"
                               : "'" + column->words.front() + "', expected a number");
    }
  }
  return table;
}

}  // namespace tessera::report
