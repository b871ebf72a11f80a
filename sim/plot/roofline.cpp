#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/plot/roofs.h"
#include "sim/plot/script.h"
#include "sim/report/units.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

/// Where bytes are counted for the intensity.
struct Level {
  const char* name;
  unsigned mark;  ///< gnuplot's point type
  std::optional<double> (*bytes)(const Row& row);
};

std::optional<double> exchanged(const Row& row) { return number(row, "traffic.exchange_bytes"); }

/// Counted where the machine has a table of energies, else what the workload says it must move.
std::optional<double> loaded_and_stored(const Row& row) {
  const auto loaded = number(row, "energy.work.bytes_loaded");
  const auto stored = number(row, "energy.work.bytes_stored");
  if (loaded && stored) return *loaded + *stored;
  const auto rate = number(row, "rate.useful_bytes_per_second"), time = number(row, "time.seconds");
  return rate && time ? std::optional(*rate * *time) : std::nullopt;
}

constexpr std::array kLevels = {Level{"exchange", 7, exchanged},
                                Level{"local memory", 9, loaded_and_stored}};

struct Dot {
  double intensity, rate;  ///< FLOP a byte, FLOP a second
  std::size_t level;
  std::string series;
};

std::vector<Dot> dots_of(const Rows& rows, const std::vector<std::string>& by) {
  std::vector<Dot> dots;
  for (const Row& row : rows.rows) {
    const double flops = number(row, "work.useful_flops").value_or(0);
    const double rate = number(row, "rate.useful_flops_per_second").value_or(0);
    if (flops <= 0 || rate <= 0) continue;
    std::vector<std::string> label;
    label.reserve(by.size());
    for (const std::string& path : by) label.push_back(text(row, path));
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      const double bytes = kLevels[level].bytes(row).value_or(0);
      if (bytes <= 0) continue;
      dots.push_back({flops / bytes, rate, level, fmt::format("{}", fmt::join(label, ", "))});
    }
  }
  if (dots.empty()) {
    throw UserError(rows.origin + ": roofline: no run computes and moves bytes");
  }
  return dots;
}

/// The ranges of a figure, its place in the picture fixed, so that a slope's angle is known.
struct Plane {
  double low, high, least, most;
  /// Shares of the picture.
  static constexpr double kLeft = 0.1, kBottom = 0.15, kWidth = 0.66, kHeight = 0.74;

  /// Of a slope to the horizontal, in radians.
  [[nodiscard]] double angle(const Figure& figure) const {
    const double decade_x = kWidth * figure.width / std::log10(high / low);
    const double decade_y = kHeight * figure.height / std::log10(most / least);
    return std::atan2(decade_y, decade_x);
  }
  [[nodiscard]] std::string script() const {
    return fmt::format(
        "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\n"
        "set tmargin at screen {}\nset logscale xy\nset format x '%.4g'\nset format y '%.0s%c'\n"
        "set xrange [{}:{}]\nset yrange [{}:{}]\n",
        kLeft, kLeft + kWidth, kBottom, kBottom + kHeight, low, high, least, most);
  }
};

Plane plane_of(const Roofs& roofs, const std::vector<Dot>& dots) {
  Plane plane{roofs.top() / roofs.steepest(), roofs.top() / roofs.slopes.back().per_second,
              roofs.flats.back().per_second, 2 * roofs.top()};
  for (const Dot& dot : dots) {
    plane.low = std::min(plane.low, dot.intensity);
    plane.high = std::max(plane.high, dot.intensity);
    plane.least = std::min(plane.least, dot.rate);
  }
  plane.low /= 5;
  plane.high *= 8;
  plane.least /= 3;
  return plane;
}

std::string roofs_script(const Roofs& roofs, const Plane& plane, double angle) {
  constexpr std::array kInks = {"#2a7fb0", "#7a4fa0"};
  constexpr double kWidthsAway = 1.6, kHeightsAway = 0.8;  // of letters, square to the slope
  std::string script = "set style textbox opaque noborder margins 0.3,0.1\n";
  for (std::size_t i = 0; i < roofs.slopes.size(); ++i) {
    const auto& [name, bytes] = roofs.slopes[i];
    // Named a little above where it comes into the picture.
    const double from = std::max(plane.low, plane.least / bytes);
    const double at = from * std::pow(roofs.top() / bytes / from, 0.08);
    script += fmt::format(
        "set arrow from {0},{1} to {2},{3} nohead lw 2 lc rgb '{4}'\n"
        "set label {5} at {6},{7} left rotate by {8:.1f} offset {9:.2f},{10:.2f} font ',10' tc rgb "
        "'{4}'\n",
        from, from * bytes, roofs.top() / bytes, roofs.top(), kInks[i % kInks.size()],
        literal(name + " " + report::scaled(bytes, "B/s")), at, at * bytes,
        angle * 180 / std::numbers::pi, -kWidthsAway * std::sin(angle),
        kHeightsAway * std::cos(angle));
  }
  for (const auto& [name, rate] : roofs.flats) {
    script += fmt::format(
        "set arrow from {0},{1} to {2},{1} nohead lw {3} lc rgb '#444444'\n"
        "set label {4} at {2},{1} right offset -0.5,0.6 font ',10' tc rgb '#444444' front boxed\n",
        std::max(plane.low, rate / roofs.steepest()), rate, plane.high, rate == roofs.top() ? 2 : 1,
        literal(name + " " + report::scaled(rate, "FLOP/s")));
  }
  return script;
}

/// A curve a level and series; colours are of series, marks of levels.
std::string curves_of(const std::vector<Dot>& dots, const std::vector<std::string>& series) {
  std::vector<std::string> parts;
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      parts.push_back(fmt::format(
          "data using (strcol(3) eq {} && strcol(4) eq {}?$1:NaN):2 with points pt {} ps 0.9 lc "
          "rgb '{}' notitle",
          literal(kLevels[level].name), literal(series[i]), kLevels[level].mark, colour(i)));
    }
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    parts.push_back(fmt::format("keyentry with points pt 5 ps 1.2 lc rgb '{}' title {}", colour(i),
                                literal(series[i])));
  }
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    const auto here = [&](const Dot& dot) { return dot.level == level; };
    if (std::none_of(dots.begin(), dots.end(), here)) continue;
    parts.push_back(fmt::format("keyentry with points pt {} ps 0.9 lc rgb '#888888' title {}",
                                kLevels[level].mark,
                                literal("bytes: " + std::string(kLevels[level].name))));
  }
  return fmt::format("plot \\\n  {}\n", fmt::join(parts, ", \\\n  "));
}

}  // namespace

/// Useful operations a second over operations a byte, of the exchange and of local memory where
/// its bytes are known, under the machine's roofs; coloured by kernel or `by`.
Figure roofline(const Source& source, const Request& request) {
  for (const std::string& path : request.by) require_path(source.rows, path, "--by", false);
  const std::vector<std::string> by =
      request.by.empty() ? std::vector<std::string>{"workload.kernel"} : request.by;
  const Roofs roofs = roofs_of(source.rows);
  const std::vector<Dot> dots = dots_of(source.rows, by);
  const Plane plane = plane_of(roofs, dots);
  Figure figure;
  figure.csv = "flops_per_byte,useful_flops_per_second,bytes_of,series\n";
  std::vector<std::string> series;
  for (const Dot& dot : dots) {
    figure.csv += fmt::format("{},{},{},{}\n", dot.intensity, dot.rate, kLevels[dot.level].name,
                              sweep::csv_cell(dot.series));
    if (std::find(series.begin(), series.end(), dot.series) == series.end()) {
      series.push_back(dot.series);
    }
  }
  const std::string key =
      by.size() == 1 && !request.by.empty() ? quantity_of(by[0], 0).title() : "";
  figure.script = heading(title_of(source.rows, request) + best_note(request),
                          "useful operations a byte (FLOP/B)", "useful rate (FLOP/s)", key) +
                  plane.script() + roofs_script(roofs, plane, plane.angle(figure)) +
                  curves_of(dots, series);
  return figure;
}

}  // namespace tessera::plot
