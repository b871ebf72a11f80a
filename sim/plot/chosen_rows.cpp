#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/nearest.h"
#include "sim/plot/pivot.h"
#include "sim/plot/quantity.h"
#include "sim/plot/rows.h"

namespace tessera::plot {

namespace {

constexpr std::string_view kFailed = "failed";

struct Reason {
  std::string_view status, one, several;
};

/// In the order of messages. A failed point counts as "does not fit" if its message says so.
constexpr std::array kReasons = {
    Reason{"does not fit", "that does not fit", "that do not fit"},
    Reason{kFailed, "that cannot run", "that cannot run"},
    Reason{"wrong", "with a wrong result", "with wrong results"},
    Reason{"stuck", "that made no progress", "that made no progress"},
    Reason{"defect", "that met a defect of tessera", "that met a defect of tessera"},
    Reason{"died", "whose process died", "whose processes died"},
    Reason{"starved", "that the host had not enough for", "that the host had not enough for"},
    Reason{"", "not simulated", "not simulated"}};

std::string_view reason_of(const Row& row) {
  // Matches "does not fit", "no plan fits" and other wordings of kernels.
  const bool fits = row.error.find(" fit") == std::string::npos;
  return row.status == kFailed && !fits ? kReasons.front().status : std::string_view(row.status);
}

/// True if the values at `path` are monotonic when rows are ordered by `x`; for texts: if the rows
/// of each value are consecutive.
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

Rows best_over(const Rows& rows, std::span<const std::string> over, const std::string& y) {
  require_path(rows, y, "--y", true);
  Rows best{rows.origin, rows.axes, {}, rows.left_out};
  for (const std::string& path : over) {
    if (std::erase(best.axes, path) > 0) continue;
    throw UserError("{}: --best: found {}, allowed an axis ({}){}", rows.origin, path,
                    fmt::join(rows.axes, ", "), config::did_you_mean(path, rows.axes));
  }
  const bool more = more_is_better(y);
  std::map<std::string, std::size_t> places;  // of the best row so far, by its other axes
  for (const Row& row : rows.rows) {
    const auto value = number(row, y);
    if (!value) continue;
    Json others = Json::array();
    for (const std::string& path : best.axes) {
      const Json* const at = find(row, path);
      others.push_back(at == nullptr ? Json() : *at);
    }
    const auto [place, first] = places.try_emplace(others.dump(), best.rows.size());
    if (first) {
      best.rows.push_back(row);
      continue;
    }
    Row& known = best.rows[place->second];
    const double its = *number(known, y);
    if (more ? *value > its : *value < its) known = row;
  }
  return best;
}

bool is_infeasible(const Row& row) { return row.status == kFailed; }

std::string left_out_text(std::span<const Row> left_out) {
  std::string text;
  std::size_t told = 0;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count == 0) return;
    text += text.empty() ? counted(count, "point") : fmt::format(", {}", count);
    text += fmt::format(" {}", what);
    told += count;
  };
  for (const Reason& reason : kReasons) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        left_out, [&](const Row& row) { return reason_of(row) == reason.status; }));
    add(count, count == 1 ? reason.one : reason.several);
  }
  add(left_out.size() - told, "without a result");
  return text;
}

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
