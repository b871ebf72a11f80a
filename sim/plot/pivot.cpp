#include "sim/plot/pivot.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/quantity.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

/// A place in the order of series or categories: by number, then in order of appearance.
struct Place {
  std::vector<std::optional<double>> numbers;
  std::string label;
  bool operator==(const Place& other) const { return label == other.label; }
};

std::vector<std::string> labels(const std::vector<Place>& places) {
  return mapped(places, &Place::label);
}

/// The series of a row's number; `name` names the quantity if there are several. With a single key
/// the label is its value alone.
Place series_of(const Row& row, const std::string& name, std::span<const std::string> by) {
  Place place;
  for (const std::string& path : by) {
    const std::string value = text(row, path);
    place.numbers.push_back(number(row, path));
    if (value.empty()) continue;
    if (!place.label.empty()) place.label += ", ";
    place.label += by.size() > 1 ? named_value(row, path) : value;
  }
  if (!name.empty()) place.label += (place.label.empty() ? "" : ": ") + name;
  return place;
}

/// The points that cannot run but have a known place in the figure.
std::vector<const Row*> placed(const Rows& rows, const Request& request) {
  std::vector<const Row*> found;
  for (const Row& row : rows.left_out) {
    const bool known =
        is_infeasible(row) && find(row, request.x) != nullptr &&
        std::ranges::all_of(request.by, [&](const auto& path) { return row.axes.contains(path); });
    if (known) found.push_back(&row);
  }
  return found;
}

[[noreturn]] void refuse_double(const Rows& rows, const Sample& sample, const Pivot& pivot,
                                const std::string& series, std::span<const std::string> by) {
  std::vector<std::string> others;
  for (const std::string& path : varying(rows)) {
    if (path != pivot.x && !contains(by, path)) {
      others.push_back(path);
    }
  }
  throw UserError("{}: several runs have {} = {}{}{}; {}", rows.origin, pivot.x,
                  text(*sample.row, pivot.x), series.empty() ? "" : " of ", series,
                  others.empty()
                      ? "give other folders, or --where"
                      : fmt::format("give --by or --where for {}", fmt::join(others, ", ")));
}

/// The row's values at the paths, joined.
std::string place_of_best(const Row& row, const std::vector<std::string>& best) {
  const auto texts = mapped(best, [&](const std::string& path) { return text(row, path); });
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The axis and the series, with empty values.
Pivot empty_pivot(std::span<const Sample> samples, std::span<const Row* const> infeasible,
                  const Request& request) {
  std::vector<Place> xs, series;
  const auto add = [&](const Row& row, const std::string& name) {
    add_once(xs, {{number(row, request.x)}, text(row, request.x)});
    add_once(series, series_of(row, name, request.by));
  };
  for (const Sample& sample : samples) add(*sample.row, sample.name);
  for (const Row* row : infeasible) {
    if (request.y.size() == 1) add(*row, "");
    if (request.y.size() > 1) add_once(xs, {{number(*row, request.x)}, text(*row, request.x)});
  }
  std::ranges::stable_sort(xs, {}, &Place::numbers);
  std::ranges::stable_sort(series, {}, &Place::numbers);
  Pivot made;
  made.x = request.x;
  made.x_texts = labels(xs);
  made.key_title = request.by.size() == 1 ? quantity_of(request.by.front(), 0).title() : "";
  made.series = labels(series);
  const bool numbers =
      std::ranges::all_of(xs, [](const Place& place) { return place.numbers[0].has_value(); });
  for (const Place& place : xs) {
    if (numbers) made.x_values.push_back(*place.numbers[0]);
  }
  made.values.assign(xs.size(), std::vector<std::optional<double>>(series.size()));
  made.infeasible.assign(xs.size(), std::vector<bool>(series.size()));
  made.best = request.best;
  if (!made.best.empty()) made.best_at.assign(xs.size(), std::vector<std::string>(series.size()));
  return made;
}

}  // namespace

bool Pivot::has_infeasible() const {
  return std::ranges::any_of(infeasible,
                             [](const std::vector<bool>& row) { return contains(row, true); });
}

std::vector<double> Pivot::numbers() const {
  std::vector<double> found;
  for (const auto& row : values) {
    for (const auto& value : row) {
      if (value) found.push_back(*value);
    }
  }
  return found;
}

std::string Pivot::csv() const {
  std::string out = sweep::csv_cell(x);
  for (const std::string& label : series) out += "," + sweep::csv_cell(label);
  if (!best_at.empty()) {
    for (const std::string& label : series) {
      const std::string of = label.empty() ? "" : label + ": ";
      out += "," + sweep::csv_cell(fmt::format("{}best {}", of, fmt::join(best, ", ")));
    }
  }
  out += "\n";
  for (std::size_t i = 0; i < x_texts.size(); ++i) {
    out += x_values.empty() ? sweep::csv_cell(x_texts[i]) : fmt::format("{}", x_values[i]);
    for (const auto& value : values[i]) out += value ? fmt::format(",{}", *value) : ",";
    if (!best_at.empty()) {
      for (const std::string& place : best_at[i]) out += "," + sweep::csv_cell(place);
    }
    out += "\n";
  }
  return out;
}

Pivot pivot(const Rows& rows, std::span<const Sample> all, const Request& request) {
  std::vector<Sample> samples;
  std::ranges::copy_if(all, std::back_inserter(samples),
                       [&](const Sample& sample) { return !text(*sample.row, request.x).empty(); });
  const std::vector<const Row*> infeasible = placed(rows, request);
  Pivot made = empty_pivot(samples, infeasible, request);
  for (const Sample& sample : samples) {
    const std::string label = series_of(*sample.row, sample.name, request.by).label;
    const std::size_t i = index_in(made.x_texts, text(*sample.row, request.x));
    const std::size_t s = index_in(made.series, label);
    if (made.values[i][s]) refuse_double(rows, sample, made, label, request.by);
    made.values[i][s] = sample.value;
    if (!made.best.empty()) made.best_at[i][s] = place_of_best(*sample.row, made.best);
  }
  for (const Row* row : infeasible) {
    const std::size_t i = index_in(made.x_texts, text(*row, request.x));
    const std::string label = series_of(*row, "", request.by).label;
    for (std::size_t s = 0; s < made.series.size(); ++s) {
      const bool its =
          request.y.size() > 1 ? made.series[s].starts_with(label) : made.series[s] == label;
      if (its && !made.values[i][s]) made.infeasible[i][s] = true;
    }
  }
  return made;
}

std::string named_value(const Row& row, const std::string& path) {
  std::string value = text(row, path);
  if (!number(row, path)) return value;
  const std::string unit = unit_of(path).text;
  return quantity_of(path, 0).label + " " + value + (unit.empty() ? "" : " " + unit);
}

std::string series_label(const Row& row, std::span<const std::string> by) {
  return series_of(row, "", by).label;
}

std::vector<std::string> series_labels(const Rows& rows, std::span<const std::string> by) {
  constexpr std::size_t kMost = 24;
  std::vector<Place> places;
  for (const Row& row : rows.rows) add_once(places, series_of(row, "", by));
  std::ranges::stable_sort(places, {}, &Place::numbers);
  if (places.size() <= kMost) return labels(places);
  throw UserError(
      "{}: --by: found {} values, allowed {} in one figure: choose some "
      "with --where",
      rows.origin, places.size(), kMost);
}

std::vector<std::string> short_names(const std::vector<std::string>& texts) {
  std::vector<std::string> names = mapped(texts, [](const std::string& text) {
    return text.starts_with('/') ? text.substr(text.rfind('/') + 1) : text;
  });
  const auto different = [](const std::vector<std::string>& all) {
    return std::set<std::string>(all.begin(), all.end()).size();
  };
  return different(names) == different(texts) ? names : texts;
}

bool follows(const Rows& rows, const std::string& path, const std::string& x) {
  std::map<std::string, std::string> known;
  return std::ranges::all_of(rows.rows, [&](const Row& row) {
    const std::string value = text(row, path);
    return known.emplace(text(row, x), value).first->second == value;
  });
}

std::vector<std::string> varying(const Rows& rows) {
  std::vector<std::string> found;
  for (const std::string& path : rows.axes) {
    const std::string first = text(rows.rows.front(), path);
    const auto differs = [&](const Row& row) { return text(row, path) != first; };
    if (std::ranges::any_of(rows.rows, differs) ||
        std::ranges::any_of(rows.left_out,
                            [&](const Row& row) { return is_infeasible(row) && differs(row); }))
      found.push_back(path);
  }
  return found;
}

}  // namespace tessera::plot
