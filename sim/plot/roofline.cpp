#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/frame.h"
#include "sim/plot/roofs.h"
#include "sim/plot/script.h"
#include "sim/report/units.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

/// A memory level whose bytes give the intensity.
struct Level {
  const char* name;
  unsigned mark;  ///< gnuplot's point type
  std::optional<double> (*bytes)(const Row& row);
};

std::optional<double> exchanged(const Row& row) { return number(row, "traffic.exchange_bytes"); }

/// Counted if the machine has an energy table, else the minimum that the workload states.
std::optional<double> loaded_and_stored(const Row& row) {
  const auto loaded = number(row, "energy.work.bytes_loaded");
  const auto stored = number(row, "energy.work.bytes_stored");
  if (loaded && stored) return *loaded + *stored;
  const auto rate = number(row, "rate.useful_bytes_per_second"), time = number(row, "time.seconds");
  return rate && time ? std::optional(*rate * *time) : std::nullopt;
}

constexpr std::array kLevels = {Level{"exchange", 7, exchanged},
                                Level{"local memory", 9, loaded_and_stored}};

/// The operations of a figure: useful floating-point ones, or integer ones for runs without any.
struct Operations {
  const char* unit;
  const char* rate;  ///< key of a run's report
  const char* csv;   ///< heading of the table's first columns
  double (*number)(const Row& row);
};

double useful_flops(const Row& row) { return number(row, "work.useful_flops").value_or(0); }

double useful_integer_operations(const Row& row) {
  return number(row, "rate.useful_integer_operations_per_second").value_or(0) *
         number(row, "time.seconds").value_or(0);
}

constexpr Operations kFlops{"FLOP", "rate.useful_flops_per_second",
                            "flops_per_byte,useful_flops_per_second", useful_flops};
constexpr Operations kIntegers{"OP", "rate.useful_integer_operations_per_second",
                               "operations_per_byte,useful_integer_operations_per_second",
                               useful_integer_operations};

/// Operations per second of a run; 0 if it computes nothing.
double rate_of(const Row& row, const Operations& operations) {
  return number(row, operations.rate).value_or(0);
}

/// Throws UserError if no run computes, or if their operations have different units.
const Operations& operations_of(const Rows& rows) {
  const Operations* found = nullptr;
  for (const Row& row : rows.rows) {
    const Operations& its = rate_of(row, kFlops) > 0 ? kFlops : kIntegers;
    if (rate_of(row, its) <= 0) continue;
    if (found != nullptr && found != &its)
      throw UserError(rows.origin +
                      ": roofline: some runs compute on integers (OP), others on floating-point "
                      "numbers (FLOP); choose with --where, or plot them apart");
    found = &its;
  }
  if (found == nullptr) throw UserError(rows.origin + ": roofline: no run computes");
  return *found;
}

struct Dot {
  double intensity, rate;  ///< operations per byte, operations per second
  std::size_t level;
  std::string series;
};

std::vector<Dot> dots_of(const Rows& rows, const Operations& operations,
                         const std::vector<std::string>& by) {
  std::vector<Dot> dots;
  for (const Row& row : rows.rows) {
    const double rate = rate_of(row, operations);
    const double done = operations.number(row);
    if (done <= 0 || rate <= 0) continue;
    const auto label = mapped(by, [&](const std::string& path) { return text(row, path); });
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      const double bytes = kLevels[level].bytes(row).value_or(0);
      if (bytes <= 0) continue;
      dots.push_back({done / bytes, rate, level, fmt::format("{}", fmt::join(label, ", "))});
    }
  }
  if (dots.empty()) {
    throw UserError(rows.origin + ": roofline: no run that computes moves bytes that are counted");
  }
  return dots;
}

/// The axes and their place, which give a slope's angle.
struct Plane {
  Axis x, y;
  Frame frame;

  /// Angle of a slope to the horizontal, in radians.
  [[nodiscard]] double angle() const {
    const double across = (frame.box.right - frame.box.left) / std::log10(x.high / x.low);
    const double up = (frame.box.top - frame.box.bottom) / std::log10(y.high / y.low);
    return std::atan2(up, across);
  }
  [[nodiscard]] Spot spot(double intensity, double rate) const {
    return frame.spot(x, intensity, y, rate);
  }
};

Plane plane_of(const Roofs& roofs, const std::vector<Dot>& dots, const Frame& frame) {
  double low = roofs.top() / roofs.steepest(), high = roofs.top() / roofs.slopes.back().per_second;
  double least = roofs.flats.back().per_second;
  for (const Dot& dot : dots) {
    low = std::min(low, dot.intensity);
    high = std::max(high, dot.intensity);
    least = std::min(least, dot.rate);
  }
  low /= 5;
  high *= 8;
  least /= 3;
  const auto axis = [&](const char* name, double from, double to) {
    return log_axis(name, {from, to, from}, frame.sheet);
  };
  return {axis("x", low, high), axis("y", least, 2 * roofs.top()), frame};
}

/// Finds room for a text near the end of a flat roof: above or below it, or farther from the end.
std::optional<Box> beside(const Spot& end, const Sheet& sheet, const std::string& text,
                          Labels& labels) {
  const double wide = sheet.width_of(text), half = 0.42 * sheet.line();
  for (const double back : {1.0, 8.0, 16.0}) {
    for (const double up : {0.6, -0.6}) {
      const double right = end.x - back * sheet.letter(), middle = end.y + up * sheet.line();
      const Box box{right - wide, right, middle - half, middle + half};
      if (labels.take(box)) return box;
    }
  }
  return std::nullopt;
}

std::string flats_script(const Roofs& roofs, const std::string& unit, const Plane& plane,
                         Labels& labels) {
  constexpr const char* kInk = "#444444";
  const Sheet& sheet = plane.frame.sheet;
  std::string script;
  for (const auto& [name, rate] : roofs.flats) {
    const double from = std::max(plane.x.low, rate / roofs.steepest());
    script += fmt::format("set arrow from {0},{1} to {2},{1} nohead lw {3} lc rgb '{4}'\n", from,
                          rate, plane.x.high, rate == roofs.top() ? 2 : 1, kInk);
    const std::string text = name + " " + report::scaled(rate, unit + "/s");
    const Spot end = plane.spot(plane.x.high, rate);
    if (const auto box = beside(end, sheet, text, labels))
      script += labels.script(text, *box, kInk);
  }
  return script;
}

/// Finds and takes a place for a name along and above a slope, clear of flat roofs if possible.
/// Nullopt if the name is longer than the slope.
std::optional<Spot> middle_of_name(const Spot& low, const Spot& high, const Sheet& sheet,
                                   const std::string& text, Labels& labels) {
  const double length = std::hypot(high.x - low.x, high.y - low.y), wide = sheet.width_of(text);
  if (length < wide) return std::nullopt;
  const double across = (high.x - low.x) / length, up = (high.y - low.y) / length;
  const double away = 0.65 * sheet.line(), half = 0.35 * sheet.line();
  const auto boxes = [&](double middle) {
    std::vector<Box> found;
    for (double at = middle - wide / 2; at <= middle + wide / 2; at += half) {
      const Spot spot{low.x + at * across - away * up, low.y + at * up + away * across};
      found.push_back({spot.x - half, spot.x + half, spot.y - half, spot.y + half});
    }
    return found;
  };
  double best = length / 2;
  for (const double share : {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8}) {
    const double middle = wide / 2 + share * (length - wide);
    const std::vector<Box> here = boxes(middle);
    if (!std::ranges::all_of(here, [&](const Box& box) { return labels.is_free(box); })) continue;
    best = middle;
    break;
  }
  for (const Box& box : boxes(best)) labels.keep_free(box);
  return Spot{low.x + best * across - away * up, low.y + best * up + away * across};
}

std::string slopes_script(const Roofs& roofs, const Plane& plane, Labels& labels) {
  constexpr std::array kInks = {"#2a7fb0", "#7a4fa0"};
  const Sheet& sheet = plane.frame.sheet;
  const double angle = plane.angle();
  std::string script;
  for (std::size_t i = 0; i < roofs.slopes.size(); ++i) {
    const auto& [name, bytes] = roofs.slopes[i];
    const std::string text = name + " " + report::scaled(bytes, "B/s");
    const double from = std::max(plane.x.low, plane.y.low / bytes);
    script += fmt::format("set arrow from {},{} to {},{} nohead lw 2 lc rgb '{}'\n", from,
                          from * bytes, roofs.top() / bytes, roofs.top(), kInks[i % kInks.size()]);
    const Spot low = plane.spot(from, from * bytes),
               high = plane.spot(roofs.top() / bytes, roofs.top());
    const auto middle = middle_of_name(low, high, sheet, text, labels);
    if (!middle) continue;
    script += fmt::format("set label {} at {} center rotate by {:.1f} tc rgb '{}'\n", literal(text),
                          plane.frame.place(*middle), angle * 180 / std::numbers::pi,
                          kInks[i % kInks.size()]);
  }
  return script;
}

/// One curve per level and series; colours are by series, marks by level.
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
  for (std::size_t i = 0; series.size() > 1 && i < series.size(); ++i) {
    parts.push_back(fmt::format("keyentry with points pt 5 ps 1.2 lc rgb '{}' title {}", colour(i),
                                literal(series[i])));
  }
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    const auto here = [&](const Dot& dot) { return dot.level == level; };
    if (std::ranges::none_of(dots, here)) continue;
    parts.push_back(fmt::format("keyentry with points pt {} ps 0.9 lc rgb '#888888' title {}",
                                kLevels[level].mark,
                                literal("bytes: " + std::string(kLevels[level].name))));
  }
  return fmt::format("plot \\\n  {}\n", fmt::join(parts, ", \\\n  "));
}

/// Makes room for the key: beside the figure, or in lines above it.
Frame frame_of(const Headings& texts, const Request& request, const Sheet& sheet,
               std::vector<std::string> entries) {
  if (entries.size() == 1) entries.clear();  // the title names it
  for (const Level& level : kLevels) entries.push_back("bytes: " + std::string(level.name));
  return Frame::with_key(texts, request, sheet, entries);
}

}  // namespace

/// Draws useful operations per second (FLOP, or OP for integers) over operations per byte, for the
/// exchange and for local memory if its bytes are known, under the machine's roofs; coloured by
/// kernel or `by`.
Figure roofline(const Source& source, const Request& request) {
  require_paths(source.rows, request.by, "--by", false);
  const std::vector<std::string> by =
      request.by.empty() ? std::vector<std::string>{"workload.kernel"} : request.by;
  const Operations& operations = operations_of(source.rows);
  const std::string unit = operations.unit;
  const Roofs roofs = roofs_of(source.rows, &operations == &kIntegers);
  const std::vector<Dot> dots = dots_of(source.rows, operations, by);
  Figure figure;
  figure.sheet = sheet_of(request, request.sheet.is_narrow() ? 0.85 : 0.62);
  figure.csv = fmt::format("{},bytes_of,series\n", operations.csv);
  std::vector<std::string> series;
  for (const Dot& dot : dots) {
    figure.csv += fmt::format("{},{},{},{}\n", dot.intensity, dot.rate, kLevels[dot.level].name,
                              sweep::csv_cell(dot.series));
    add_once(series, dot.series);
  }
  const std::string key =
      by.size() == 1 && !request.by.empty() ? quantity_of(by[0], 0).title() : "";
  const Headings texts{title_of(source.rows, request) + best_note(request),
                       "useful operations a byte (" + unit + "/B)", "useful rate (" + unit + "/s)",
                       key};
  const Plane plane = plane_of(roofs, dots, frame_of(texts, request, figure.sheet, series));
  Labels labels(plane.frame);
  for (const Roof& flat : roofs.flats)
    labels.add_line(plane.spot(plane.x.low, flat.per_second),
                    plane.spot(plane.x.high, flat.per_second));
  for (const Dot& dot : dots) labels.keep_free(plane.spot(dot.intensity, dot.rate));
  figure.script = heading(texts, request, figure.sheet) + plane.frame.script() + plane.x.script +
                  plane.y.script + slopes_script(roofs, plane, labels) +
                  flats_script(roofs, unit, plane, labels) + curves_of(dots, series);
  return figure;
}

}  // namespace tessera::plot
