#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/nearest.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

/// A key's two bars: the metric at each end over the metric of the config.
struct Bars {
  std::string label;
  std::optional<double> low, high;
  bool low_replanned = false, high_replanned = false;

  [[nodiscard]] double reach() const {
    const auto size = [](std::optional<double> ratio) {
      return ratio ? std::abs(std::log(*ratio)) : 0;
    };
    return std::max(size(low), size(high));
  }
};

std::optional<double> ratio(const Json& end, const std::string& metric, double base) {
  if (end.is_null() || end.at(metric).is_null()) return std::nullopt;
  const double value = end.at(metric).get<double>();
  return value > 0 ? std::optional(value / base) : std::nullopt;
}

std::string label_of(const Json& key) {
  constexpr std::string_view kMachine = "machine.";
  const auto path = key.at("key").get<std::string>();
  const std::string_view name = std::string_view(path).substr(kMachine.size());
  const auto unit = key.at("unit").get<std::string>();
  // A note after the unit is for documentation only.
  const std::string short_unit = unit.substr(0, unit.find(" ("));
  return fmt::format("{} = {:.4g}{}", name, key.at("value").get<double>(),
                     short_unit.empty() ? "" : " " + short_unit);
}

/// The keys that change the metric, strongest first.
std::vector<Bars> bars_of(const Json& stored, const std::string& metric) {
  constexpr double kNothing = 5e-4;
  const double base = stored.at(metric).get<double>();
  std::vector<Bars> bars;
  for (const Json& key : stored.at("keys")) {
    Bars each{label_of(key), ratio(key.at("low"), metric, base),
              ratio(key.at("high"), metric, base)};
    const auto replanned = [](const Json& end) {
      return !end.is_null() && end.at("replanned").get<bool>();
    };
    each.low_replanned = replanned(key.at("low"));
    each.high_replanned = replanned(key.at("high"));
    if (each.reach() > kNothing) bars.push_back(each);
  }
  std::ranges::stable_sort(bars, std::ranges::greater(), &Bars::reach);
  constexpr std::size_t kMost = 16;
  if (bars.size() > kMost) bars.resize(kMost);
  return bars;
}

/// Marks of ratios, as changes in percent, from 1/reach to reach.
std::string change_marks(double reach, const Sheet& sheet) {
  constexpr double kWide = 1.35;
  std::vector<double> ratios;
  if (reach > kWide) {
    for (double at = 0.5; at > 1 / reach / 1.01; at /= 2) ratios.insert(ratios.begin(), at);
    ratios.insert(ratios.end(), {0.75, 1, 1.5});
    for (double at = 2; at < reach * 1.01; at *= 2) ratios.push_back(at);
  } else {
    double step = 0.1;
    while (step > (reach - 1) * 0.9)
      step /= step > 0.7 * std::pow(10, std::ceil(std::log10(step))) ? 2.0 : 5.0;
    for (int i = -3; i <= 3; ++i) ratios.push_back(1 + i * step);
  }
  while (ratios.size() > sheet.marks_across()) {  // every second one, keeping 'no change'
    const auto one = std::ranges::find(ratios, 1.0) - ratios.begin();
    std::vector<double> kept;
    for (std::size_t i = static_cast<std::size_t>(one) % 2; i < ratios.size(); i += 2)
      kept.push_back(ratios[i]);
    if (kept.size() < 3) break;
    ratios = kept;
  }
  const auto mark = [](double at) {
    return fmt::format("'{}{:.4g} %%' {}", at > 1 ? "+" : "", 100 * (at - 1), at);
  };
  return fmt::format("{}", fmt::join(mapped(ratios, mark), ", "));
}

/// Makes axis marks of names: one wider than `most` gets two lines, the key's parent above it, and
/// its unit only if there is room. Returns the width of the widest line.
double name_rows(std::vector<std::string>& names, const Sheet& sheet, double most) {
  double widest = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string& name = names[i];
    std::vector<std::string> lines{name};
    if (sheet.width_of(name) > most) {
      const std::size_t equals = name.find(" = ");
      const std::size_t key = name.rfind('.', equals) + 1;  // 0: it has no parent
      const std::size_t unit = name.find(' ', equals + 3);
      lines = {name.substr(0, key), name.substr(key)};
      if (sheet.width_of(lines.back()) > most) lines.back() = name.substr(key, unit - key);
      if (key == 0) lines.erase(lines.begin());
    }
    name.clear();
    for (const std::string& line : lines) {
      widest = std::max(widest, sheet.width_of(line));
      name += (name.empty() ? "" : ".\"\\n\".") + literal(line);
    }
    name += fmt::format(" {}", i);
  }
  return widest;
}

/// Margins: the bars begin after `names` inches; headings are centred on the sheet.
std::string margins(double names, const Sheet& sheet) {
  const double left = names / sheet.width, right = 1 - 4 * sheet.letter() / sheet.width;
  return fmt::format(
      "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\nset title offset screen "
      "{:.4f},0\nset xlabel offset screen {:.4f},0\n",
      left, right, (1 - left - right) / 2, (1 - left - right) / 2);
}

std::string number_or_gap(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : "NaN";
}

/// The upper or lower bars of all keys, and a mark after those with another plan.
std::string half(const std::string& title, std::size_t column, double top, double bottom,
                 std::size_t series) {
  std::string text = fmt::format(
      "  data using (1):0:(1):{0}:($0{1:+}):($0{2:+}) with boxxyerror lc rgb '{3}' fs solid 0.9 "
      "noborder title {4}",
      column, top, bottom, colour(series), literal(title));
  for (const bool less : {true, false})
    text += fmt::format(
        ", \\\n  data using (${0}{1}1 ? ${0} : NaN):($0{2:+}):{3} with labels {4} notitle", column,
        less ? "<" : ">=", (top + bottom) / 2, column + 1,
        less ? "right offset -0.4,-0.1" : "left offset 0.4,-0.1");
  return text;
}

/// The requested metric, if the file has it.
std::string metric_of(const Source& source, const Request& request) {
  std::string metric = request.y.empty() ? "time" : request.y.front();
  constexpr std::array<std::string_view, 3> kMetrics = {"time", "energy", "area"};
  if (!contains(kMetrics, metric) || request.y.size() > 1)
    throw UserError("tessera plot: --y: found {}, allowed one of {}{}", fmt::join(request.y, ", "),
                    config::list_of(kMetrics), config::did_you_mean(metric, kMetrics));
  if (source.sensitivity->at(metric).is_null())
    throw UserError("{}: tornado: {} is not known there", source.rows.origin, metric);
  return metric;
}

std::string csv_of(const std::vector<Bars>& bars) {
  std::string csv = "key,low_ratio,low_plan,high_ratio,high_plan\n";
  for (const Bars& each : bars)
    csv += fmt::format("{},{},{},{},{}\n", each.label, number_or_gap(each.low),
                       each.low_replanned ? "*" : "", number_or_gap(each.high),
                       each.high_replanned ? "*" : "");
  return csv;
}

/// The keys' names as marks of the axis; makes the sheet as high as they need.
struct Names {
  std::vector<std::string> marks;
  double widest;  ///< inches

  Names(const std::vector<Bars>& bars, Sheet& sheet) {
    constexpr double kMost = 0.45;  // of the width
    constexpr double kRest = 7;     // lines around the bars
    double lines_a_row = 1.5;
    for (const Bars& each : bars) {
      marks.push_back(each.label);
      if (sheet.width_of(each.label) > kMost * sheet.width) lines_a_row = 2.2;
    }
    widest = name_rows(marks, sheet, kMost * sheet.width);
    if (sheet.height == 0)
      sheet.height = sheet.line() * (kRest + lines_a_row * static_cast<double>(bars.size()));
  }
};

/// The axes, and both halves of all bars.
std::string drawing(const Names& names, double reach, double by, const Sheet& sheet) {
  return margins(names.widest + 2 * sheet.letter(), sheet) +
         fmt::format(
             "set ytics scale 0 ({})\nset yrange [{}:-0.6]\nset logscale x\nset xrange [{}:{}]\n"
             "set xtics ({})\nset grid x noy lc rgb '#dddddd' lt 1 lw 0.7\n"
             "set key tmargin right horizontal\n"
             "set arrow from 1,graph 0 to 1,graph 1 nohead lc rgb '#444444' lw 1 front\n"
             "plot \\\n{}, \\\n{}\n",
             fmt::join(names.marks, ", "), static_cast<double>(names.marks.size()) - 0.4,
             std::pow(reach, -1.12), std::pow(reach, 1.12), change_marks(reach, sheet),
             half(fmt::format("key / {:g}", by), 2, -0.38, 0, 0),
             half(fmt::format("key x {:g}", by), 4, 0, 0.38, 1));
}

}  // namespace

/// Draws how time, energy or area changes when keys are halved and doubled; strongest keys first.
Figure tornado(const Source& source, const Request& request) {
  check(source.sensitivity != nullptr, "plot: a tornado of no sensitivity");
  const Json& stored = *source.sensitivity;
  const std::string metric = metric_of(source, request);
  const std::vector<Bars> bars = bars_of(stored, metric);
  if (bars.empty()) throw UserError("{}: tornado: no key moves {}", source.rows.origin, metric);
  const double reach = std::max(std::exp(bars.front().reach()), 1.001);
  const char* const how = stored.at("simulated").get<bool>() ? "simulated" : "predicted";
  Figure figure;
  Sheet& sheet = figure.sheet = request.sheet;
  const Names names(bars, sheet);
  figure.csv = csv_of(bars);
  figure.script = heading({stored.at("heading").get<std::string>(),
                           fmt::format("change of {} ({}; * with another plan)", metric, how)},
                          request, sheet) +
                  drawing(names, reach, stored.at("by").get<double>(), sheet);
  return figure;
}

}  // namespace tessera::plot
