#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/plot/parts.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

constexpr std::size_t kColours = 7;  // of colour()

using Colours = std::map<std::string, std::string>;  ///< of series that have one of their own

/// What differs between kinds of bars.
struct Style {
  bool stacked;
  double largest;  ///< of what stands at one place
  Quantity y;
};

std::string look_of(std::size_t series, const std::string& own) {
  if (!own.empty()) return fmt::format("lc rgb '{}' fs solid 0.95 noborder", own);
  return fmt::format("lc rgb '{}' fs {} noborder", colour(series),
                     series < kColours ? "solid 0.95" : "pattern 1");
}

/// A cross where a bar cannot be, for its config cannot run.
std::string crosses(const Pivot& table, bool stacked) {
  std::string script;
  const auto bars = static_cast<double>(stacked ? 1 : table.series.size());
  for (std::size_t i = 0; i < table.x_texts.size(); ++i) {
    for (std::size_t s = 0; s < (stacked ? 1 : table.series.size()); ++s) {
      if (!table.infeasible[i][s]) continue;
      // Clusters stand a bar's width apart.
      const double at =
          static_cast<double>(i) + (static_cast<double>(s) - (bars - 1) / 2) / (bars + 1);
      script += fmt::format(
          "set label '' at first {},graph 0.03 point pt 2 ps 0.7 lc rgb '#888888'\n", at);
    }
  }
  return script;
}

/// Bars of the request's quantities at each value of its x.
Figure histogram(const Source& source, const Request& request, const Pivot& table,
                 const Style& style, const Colours& colours) {
  std::vector<std::string> marks, parts;
  const Sheet sheet = sheet_of(request, 0.6);
  double widest = 0;
  for (const std::string& text : table.x_texts) widest = std::max(widest, sheet.width_of(text));
  const double room = 0.7 * sheet.width / static_cast<double>(table.x_texts.size());
  for (std::size_t i = 0; i < table.x_texts.size(); ++i) {
    marks.push_back(fmt::format("{} {}", literal(table.x_texts[i]), i));
  }
  const Axis up = axis_of("y", wants_log(request, 'y', false),
                          {table.smallest() * style.y.scale, style.largest * style.y.scale,
                           extent_of(table.numbers()).positive * style.y.scale},
                          sheet);
  for (std::size_t i = 0; i < table.series.size(); ++i) {
    parts.push_back(fmt::format(
        "  data using {} {} title {}", up.drawn(i + 2, style.y.scale),
        look_of(i, colours.contains(table.series[i]) ? colours.at(table.series[i]) : ""),
        literal(table.series[i])));
  }
  if (table.has_infeasible())
    parts.push_back("  keyentry with points pt 2 ps 0.7 lc rgb '#888888' title 'cannot run'");
  Figure figure;
  figure.sheet = sheet;
  figure.csv = table.csv();
  figure.script = heading({title_of(source.rows, request), quantity_of(request.x, 0).title(),
                           style.y.title() + best_note(request), table.key_title},
                          request, sheet) +
                  up.script + crosses(table, style.stacked) +
                  fmt::format(
                      "set style data histograms\nset style histogram {}\n"
                      "set boxwidth {} relative\nset xtics scale 0 {}({})\nset xrange [-0.6:{}]\n"
                      "plot \\\n{}\n",
                      style.stacked ? "rowstacked" : "clustered gap 1", style.stacked ? 0.7 : 0.92,
                      widest > room ? "rotate by 35 right " : "", fmt::join(marks, ", "),
                      static_cast<double>(table.x_texts.size()) - 0.4, fmt::join(parts, ", \\\n"));
  return figure;
}

/// The numbers of a section of report.json that sum up to a whole, those that are zero in all runs
/// left out: all, but of `time` its parts.
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
    const std::string path = fmt::format("{}.{}", section, key);
    const bool used = std::any_of(rows.rows.begin(), rows.rows.end(), [&](const Row& row) {
      return number(row, path).value_or(0) != 0;
    });
    if (part && value.is_number() && used) paths.push_back(path);
  }
  return paths;
}

/// A sample a run and part, named as part of its whole; their colours.
std::vector<Sample> samples_of_parts(const Rows& rows, const std::vector<std::string>& parts,
                                     Colours& colours) {
  std::vector<Sample> samples;
  for (const std::string& path : parts) {
    const PartLook look = look_of_part(path);
    colours[look.name] = look.colour;
  }
  for (const Row& row : rows.rows) {
    for (const std::string& path : parts) {
      if (const auto value = number(row, path))
        samples.push_back({&row, look_of_part(path).name, *value});
    }
  }
  return samples;
}

/// "time", "energy", "stalls": what the parts sum up to, as a name.
std::string whole_of(const Request& asked) {
  const std::string& section = asked.y.front();
  return section.substr(0, section.find('.'));
}

}  // namespace

/// A quantity in groups of bars, a group for each value of an axis.
Figure bars(const Source& source, const Request& given) {
  const Request request = completed(source.rows, given, false);
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  return histogram(source, request, table,
                   {false, table.largest(), shared_quantity(request.y, table.largest())}, {});
}

/// Quantities on top of each other, a bar for each value of an axis: the parts of a section.
Figure stacked(const Source& source, const Request& given) {
  Request asked = given;
  if (asked.y.empty()) asked.y = {"time"};
  const std::string whole = asked.y.size() == 1 ? whole_of(asked) : "";
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
  Colours colours;
  const std::vector<Sample> samples = samples_of_parts(source.rows, parts, colours);
  const Pivot table = pivot(source.rows, samples, request);
  double highest = 0;
  for (const auto& row : table.values) {
    double sum = 0;
    for (const auto& value : row) sum += value.value_or(0);
    highest = std::max(highest, sum);
  }
  Quantity y = shared_quantity(parts, highest);
  y.label = whole;
  return histogram(source, request, table, {true, highest, y}, colours);
}

}  // namespace tessera::plot
