#include "sim/plot/scattered.h"

#include <algorithm>
#include <set>

#include "sim/base/ranges.h"
#include "sim/plot/pivot.h"

namespace tessera::plot {
namespace {

/// True if the values at `path` rise or fall throughout while the rows' order is that of `x`;
/// texts: if each value stands in one stretch.
bool is_steady(std::vector<const Row*> rows, const std::string& path, const std::string& x) {
  std::ranges::stable_sort(
      rows, [&](const Row* a, const Row* b) { return number(*a, x) < number(*b, x); });
  std::size_t ups = 0, downs = 0, changes = 0;
  std::set<std::string> values{text(*rows.front(), path)};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::string now = text(*rows[i], path), before = text(*rows[i - 1], path);
    values.insert(now);
    if (now == before) continue;
    ++changes;
    const auto value = number(*rows[i], path), last = number(*rows[i - 1], path);
    if (value && last) ++(*value > *last ? ups : downs);
  }
  return ups + downs == changes ? ups == 0 || downs == 0 : changes < values.size();
}

}  // namespace

bool is_numeric(const Rows& rows, const std::string& path) {
  return std::ranges::all_of(rows.rows, [&](const Row& row) {
    return find(row, path) == nullptr || number(row, path).has_value();
  });
}

std::size_t distinct(const Rows& rows, const std::string& path) {
  std::set<std::string> values;
  for (const Row& row : rows.rows) values.insert(text(row, path));
  return values.size();
}

bool is_scattered(const Rows& rows) {
  constexpr std::size_t kFew = 6;
  const std::vector<std::string> axes = varying(rows);
  std::string x;
  std::size_t most = 0;
  for (const std::string& path : axes) {
    const std::size_t values = is_numeric(rows, path) ? distinct(rows, path) : 0;
    if (values <= most) continue;
    most = values;
    x = path;
  }
  if (rows.rows.size() < kFew || 2 * most <= rows.rows.size()) return false;
  const auto order = mapped(rows.rows, [](const Row& row) { return &row; });
  return std::ranges::any_of(
      axes, [&](const std::string& path) { return path != x && !is_steady(order, path, x); });
}

}  // namespace tessera::plot
