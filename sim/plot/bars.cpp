#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

constexpr const char* kStacked = "rowstacked";

/// Bars of the request's quantities at each value of its x. `style`: of gnuplot's histograms;
/// `largest`: of what stands at one place.
Figure histogram(const Source& source, const Request& request, const Pivot& table,
                 const std::string& style, double largest) {
  const Quantity y = quantity_of(request.y.front(), largest);
  const bool logarithmic = wants_log(request, 'y', false);
  std::vector<std::string> marks, parts;
  for (std::size_t i = 0; i < table.x_texts.size(); ++i) {
    marks.push_back(fmt::format("{} {}", literal(table.x_texts[i]), i));
  }
  for (std::size_t i = 0; i < table.series.size(); ++i) {
    parts.push_back(fmt::format("  data using (${}*{}) lc rgb '{}' fs {} title {}", i + 2, y.scale,
                                colour(i), i < 7 ? "solid 0.9" : "pattern 1",
                                literal(table.series[i])));
  }
  Figure figure;
  figure.csv = table.csv();
  figure.script =
      heading(title_of(source.rows, request), quantity_of(request.x, 0).title(),
              (request.y.size() > 1 ? y.unit : y.title()) + best_note(request), table.key_title) +
      y_axis(logarithmic, table.smallest() * y.scale, largest * y.scale) +
      fmt::format(
          "set style data histograms\nset style histogram {}\n"
          "set boxwidth {} relative\nset xtics scale 0 ({})\nset xrange [-0.6:{}]\n"
          "plot \\\n{}\n",
          style, style == kStacked ? 0.7 : 0.92, fmt::join(marks, ", "),
          static_cast<double>(table.x_texts.size()) - 0.4, fmt::join(parts, ", \\\n"));
  return figure;
}

/// The numbers of a section of report.json that sum up to a whole: all, but of `time` its parts.
std::vector<std::string> parts_of(const Rows& rows, const std::string& section) {
  const Json* found = &rows.rows.front().report;
  for (std::string_view left = section; found != nullptr && !left.empty();) {
    const std::string key(left.substr(0, left.find('.')));
    left.remove_prefix(std::min(key.size() + 1, left.size()));
    found = found->contains(key) ? &found->at(key) : nullptr;
  }
  std::vector<std::string> paths;
  if (found == nullptr || !found->is_object()) return paths;
  for (const auto& [key, value] : found->items()) {
    const bool part = section != "time" || key.ends_with("_cycles");
    if (part && value.is_number()) paths.push_back(fmt::format("{}.{}", section, key));
  }
  return paths;
}

}  // namespace

/// A quantity in groups of bars, a group for each value of an axis.
Figure bars(const Source& source, const Request& given) {
  const Request request = completed(source.rows, given, false);
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  return histogram(source, request, table, "clustered gap 1", table.largest());
}

/// Quantities on top of each other, a bar for each value of an axis: the parts of a section.
Figure stacked(const Source& source, const Request& given) {
  Request asked = given;
  if (asked.y.empty()) asked.y = {"time"};
  std::vector<std::string> parts;
  for (const std::string& path : asked.y) {
    const std::vector<std::string> inner = parts_of(source.rows, path);
    if (inner.empty()) require_path(source.rows, path, "--y", true);
    parts.insert(parts.end(), inner.begin(), inner.end());
    if (inner.empty()) parts.push_back(path);
  }
  asked.y = parts;
  const Request request = completed(source.rows, asked, false);
  if (!request.by.empty()) {
    throw UserError(fmt::format(
        "{}: stacked: {} more than one value, allowed one axis; give --where", source.rows.origin,
        fmt::format("{} {}", fmt::join(request.by, ", "), request.by.size() > 1 ? "have" : "has")));
  }
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  double highest = 0;
  for (const auto& row : table.values) {
    double sum = 0;
    for (const auto& value : row) sum += value.value_or(0);
    highest = std::max(highest, sum);
  }
  return histogram(source, request, table, kStacked, highest);
}

}  // namespace tessera::plot
