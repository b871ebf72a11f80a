
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/ranges.h"
#include "sim/plot/bar_groups.h"
#include "sim/plot/pivot.h"
#include "sim/plot/quantity.h"

namespace tessera::plot {
namespace {

/// A bar for each place of a table of sums: in groups by x, or bars at x.
BarChart empty_chart(const Pivot& sums, const Request& request, bool grouped) {
  BarChart chart;
  chart.group_key = request.x;
  chart.bar_key = grouped ? fmt::format("{}", fmt::join(request.by, ", ")) : request.x;
  chart.groups.resize(grouped ? sums.x_texts.size() : 1);
  for (std::size_t i = 0; i < sums.x_texts.size(); ++i) {
    BarGroup& group = chart.groups[grouped ? i : 0];
    if (grouped) group.name = sums.x_texts[i];
    for (std::size_t s = 0; s < sums.series.size(); ++s)
      group.bars.push_back({grouped ? sums.series[s] : sums.x_texts[i], {}, sums.infeasible[i][s]});
  }
  return chart;
}

std::vector<double> numbers_of(const Row& row, const std::vector<std::string>& paths) {
  return mapped(paths, [&](const std::string& path) { return number(row, path).value_or(0); });
}

/// One sample per run with the sum of the parts, so that two runs at one place are refused.
std::vector<Sample> sums_of(const Rows& rows, const std::vector<std::string>& paths) {
  return mapped(rows.rows, [&](const Row& row) {
    return Sample{&row, "", Bar{"", numbers_of(row, paths)}.height()};
  });
}

/// "density; bars: n 256, 1024": the titles of groups and of the bars in each.
std::string label_below(const Request& request, bool grouped) {
  std::string x = quantity_of(request.x, 0).title();
  if (!grouped) return x;
  const auto title = [](const std::string& path) { return quantity_of(path, 0).title(); };
  return fmt::format("{}; bars: {}", x, fmt::join(mapped(request.by, title), ", "));
}

}  // namespace

/// Draws quantities stacked, such as the parts of a section: one bar for each value of an axis, or
/// for each value of --by in groups along it.
Figure stacked(const Source& source, const Request& given) {
  Request asked = given;
  if (asked.y.empty()) asked.y = {"time"};
  const std::string whole = asked.y.size() == 1 ? section_of(asked.y.front()) : "";
  asked.y = stacked_paths(source.rows, asked.y);
  Request request = completed(source.rows, asked, false);
  const std::vector<std::string> paths = request.y;
  const bool grouped = !request.by.empty();
  request.y.resize(1);  // places are those of the sums
  const Pivot sums = pivot(source.rows, sums_of(source.rows, paths), request);
  BarChart chart = empty_chart(sums, request, grouped);
  chart.parts = looks_of(paths);
  for (const Row& row : source.rows.rows) {
    const std::size_t i = index_in(sums.x_texts, text(row, request.x));
    const std::size_t s = index_in(sums.series, series_label(row, request.by));
    if (i == sums.x_texts.size()) continue;
    (grouped ? chart.groups[i].bars[s] : chart.groups.front().bars[i]).parts =
        numbers_of(row, paths);
  }
  Quantity y = shared_quantity(paths, chart.highest());
  y.label = whole;
  return draw_groups(chart,
                     {title_of(source.rows, request), label_below(request, grouped), y.title(), ""},
                     request, y);
}

}  // namespace tessera::plot
