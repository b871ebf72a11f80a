#include "sim/plot/script.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"

namespace tessera::plot {
namespace {

constexpr std::array kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                 "#E69F00", "#56B4E9", "#222222"};

constexpr std::size_t kMostSeries = 24;

/// Of numbers, the varying axis with most values; the later one of two.
std::string chosen_x(const Rows& rows, const std::vector<std::string>& axes, bool numeric) {
  std::string best;
  std::size_t most = 0;
  for (const std::string& path : axes) {
    std::set<std::string> values;
    const bool fits = !numeric || std::all_of(rows.rows.begin(), rows.rows.end(), [&](auto& row) {
      return find(row, path) == nullptr || number(row, path).has_value();
    });
    for (const Row& row : rows.rows) values.insert(text(row, path));
    if (!fits || values.size() < most) continue;
    most = values.size();
    best = path;
  }
  if (!best.empty()) return best;
  throw UserError(fmt::format("{}: no axis {}varies, so --x is needed", rows.origin,
                              numeric ? "of numbers " : ""));
}

/// 5000 as "5k", 0.2 as it is.
std::string short_number(double value) {
  constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; value >= 1000 * (1 - 1e-9) && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  return fmt::format("{:.6g}{}", value, kPrefixes[prefix]);
}

/// 1, 2 or 5 times a power of ten, of which a range has five to ten.
double round_step(double range) {
  const double least = range / 10, decade = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {decade, 2 * decade, 5 * decade}) {
    if (step >= least) return step;
  }
  return 10 * decade;
}

/// Whether each value at `x` goes with one at `path`, as of a square's sides.
bool follows(const Rows& rows, const std::string& path, const std::string& x) {
  std::map<std::string, std::string> known;
  return std::all_of(rows.rows.begin(), rows.rows.end(), [&](const Row& row) {
    const std::string value = text(row, path);
    return known.emplace(text(row, x), value).first->second == value;
  });
}

/// The value that all rows share at a path, or nothing.
std::string shared(const Rows& rows, const std::string& path) {
  const std::string first = text(rows.rows.front(), path);
  const bool same = std::all_of(rows.rows.begin(), rows.rows.end(),
                                [&](const Row& row) { return text(row, path) == first; });
  return same ? first : "";
}

}  // namespace

std::string literal(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else {
      out += c == '\'' ? std::string("''") : std::string(1, c);
    }
  }
  return out + "'";
}

std::string colour(std::size_t series) { return kColours[series % kColours.size()]; }

std::string line_style(std::size_t series) {
  constexpr std::array kPoints = {7, 5, 9, 13, 11, 15, 4};
  return fmt::format("lc rgb '{}' pt {} dt {} lw 2 ps 0.8", colour(series),
                     kPoints[series % kPoints.size()], series / kColours.size() + 1);
}

std::string heading(const std::string& title, const std::string& x, const std::string& y,
                    const std::string& key_title) {
  return fmt::format("set title {}\nset xlabel {}\nset ylabel {}\nset key title {} left\n",
                     literal(title), literal(x), literal(y), literal(key_title));
}

bool wants_log(const Request& request, char axis, bool by_default) {
  if (request.log.empty()) return by_default;
  return request.log != "none" && request.log.find(axis) != std::string::npos;
}

std::string x_axis(const Pivot& pivot, bool logarithmic) {
  constexpr std::size_t kMostMarks = 12;
  std::string out = logarithmic ? "set logscale x\n" : "";
  if (pivot.x_values.size() <= kMostMarks) {
    std::vector<std::string> marks;
    for (std::size_t i = 0; i < pivot.x_values.size(); ++i) {
      marks.push_back(fmt::format("{} {}", literal(pivot.x_texts[i]), pivot.x_values[i]));
    }
    out += fmt::format("set xtics ({})\n", fmt::join(marks, ", "));
  } else if (logarithmic) {
    out += "set format x '%.0s%c'\n";
  }
  const auto [least, most] = std::minmax_element(pivot.x_values.begin(), pivot.x_values.end());
  constexpr double kRoom = 0.04;
  const double aside = *most > *least ? kRoom * (*most - *least) : 1;
  const double apart = *most > *least ? std::pow(*most / *least, kRoom) : 2;
  return out + (logarithmic ? fmt::format("set xrange [{}:{}]\n", *least / apart, *most * apart)
                            : fmt::format("set xrange [{}:{}]\n", *least - aside, *most + aside));
}

std::string number_marks(double least, double most) {
  const double step = round_step(most - least);
  std::vector<std::string> marks;
  constexpr double kSlack = 1e-9;
  const double first = std::ceil(least / step - kSlack) + 0.0;  // not -0
  for (double i = first; i * step <= most + kSlack * step; ++i) {
    marks.push_back(fmt::format("{} {}", literal(short_number(i * step)), i * step));
  }
  return fmt::format("{}", fmt::join(marks, ", "));
}

std::string from_zero(char axis, double most) {
  if (most <= 0) most = 1;
  const double high = std::ceil(most / round_step(most)) * round_step(most);
  return fmt::format("set {0}range [0:{1}]\nset {0}tics ({2})\n", axis, high,
                     number_marks(0, high));
}

std::string log_axis(char axis, double least, double most) {
  constexpr double kRoom = 1.25, kFewDecades = 3;
  const double low = least / kRoom, high = most * kRoom;
  const bool few = std::log10(high / low) < kFewDecades;
  std::vector<std::string> marks;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10) {
    for (const double mark : {decade, 2 * decade, 5 * decade}) {
      if (mark < low || mark > high || (mark != decade && !few)) continue;
      marks.push_back(fmt::format("{} {}", literal(short_number(mark)), mark));
    }
  }
  return fmt::format("set logscale {0}\nset {0}range [{1}:{2}]\nset {0}tics ({3})\n", axis, low,
                     high, fmt::join(marks, ", "));
}

std::string y_axis(bool logarithmic, double least, double most) {
  return logarithmic && least > 0 ? log_axis('y', least, most) : from_zero('y', most);
}

std::string curves(const Pivot& pivot, double scale) {
  if (pivot.series.size() > kMostSeries) {
    throw UserError(fmt::format("found {} lines, allowed {}: choose with --where or --by",
                                pivot.series.size(), kMostSeries));
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < pivot.series.size(); ++i) {
    parts.push_back(fmt::format("  data using 1:(${}*{}) with linespoints {} title {}", i + 2,
                                scale, line_style(i), literal(pivot.series[i])));
  }
  return fmt::format("plot \\\n{}\n", fmt::join(parts, ", \\\n"));
}

Request completed(const Rows& rows, const Request& request, bool numeric) {
  Request full = request;
  if (full.y.empty()) full.y = {"time.cycles"};
  for (const std::string& path : full.y) require_path(rows, path, "--y", true);
  for (const std::string& path : full.by) require_path(rows, path, "--by", false);
  const std::vector<std::string> axes = varying(rows);
  if (full.x.empty()) full.x = chosen_x(rows, axes, numeric);
  require_path(rows, full.x, "--x", numeric);
  if (!full.by.empty()) return full;
  for (const std::string& path : axes) {
    if (path != full.x && !follows(rows, path, full.x)) full.by.push_back(path);
  }
  return full;
}

std::vector<Sample> samples_of(const Rows& rows, const std::vector<std::string>& y) {
  std::vector<Sample> samples;
  for (const Row& row : rows.rows) {
    for (const std::string& path : y) {
      const std::string name = y.size() > 1 ? quantity_of(path, 0).label : "";
      if (const auto value = number(row, path)) samples.push_back({&row, name, *value});
    }
  }
  return samples;
}

std::string best_note(const Request& request) {
  if (request.best.empty()) return "";
  std::vector<std::string> axes;
  axes.reserve(request.best.size());
  for (const std::string& path : request.best) axes.push_back(quantity_of(path, 0).label);
  return fmt::format(", best {} of each", fmt::join(axes, " and "));
}

std::string title_of(const Rows& rows, const Request& request) {
  if (!request.title.empty()) return request.title;
  const std::string kernel = shared(rows, "workload.kernel");
  const std::string machine = shared(rows, "machine.name");
  const std::string tiles = shared(rows, "machine.tiles");
  std::string title = kernel.empty() ? "Several kernels" : kernel;
  if (!machine.empty()) title += " on " + machine;
  if (!tiles.empty()) title += fmt::format(", {} tiles", tiles);
  return title;
}

}  // namespace tessera::plot
