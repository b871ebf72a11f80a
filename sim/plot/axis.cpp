#include "sim/plot/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/script.h"

namespace tessera::plot {

namespace {

/// The least of 1, 2 or 5 times a power of ten that cuts a range into at most `most` steps.
double round_step(double range, unsigned most) {
  const double least = range / most, decade = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {decade, 2 * decade, 5 * decade}) {
    if (step >= least) return step;
  }
  return 10 * decade;
}

struct Mark {
  std::string text;
  double at;
};

/// Formats marks for gnuplot: "'1k' 1000, '2k' 2000".
std::string text_of(const std::vector<Mark>& marks) {
  return fmt::format("{}", fmt::join(mapped(marks,
                                            [](const Mark& mark) {
                                              return fmt::format("{} {}", literal(mark.text),
                                                                 mark.at);
                                            }),
                                     ", "));
}

std::string tics(std::string_view axis, const std::vector<Mark>& marks) {
  return fmt::format("set {}tics ({})\n", axis, text_of(marks));
}

std::vector<Mark> marks_at(const std::vector<double>& numbers) {
  return mapped(numbers, [](double at) { return Mark{short_number(at), at}; });
}

/// Where a logarithmic axis shows zero, left of all values; 0: not needed.
double place_of_zero(const Extent& extent) {
  if (extent.least > 0) return 0;
  return extent.positive / std::max(2.0, std::pow(extent.most / extent.positive, 0.1));
}

void require_positive(std::string_view axis, const Extent& extent) {
  if (extent.least >= 0 && std::isfinite(extent.positive)) return;
  throw UserError("tessera plot: --log: {}: found {}, allowed {}", axis, extent.least,
                  extent.least < 0 ? "numbers from zero on" : "some number above zero");
}

/// Drops marks that overlap the previous one; place(value) is 0 to 1 along the axis.
template <class Place>
std::vector<Mark> apart(const std::vector<Mark>& marks, const Sheet& sheet, Place place) {
  constexpr double kPlot = 0.72, kGap = 1.5;  // share of the width; letters
  std::vector<Mark> kept;
  double end = -std::numeric_limits<double>::infinity();
  for (const Mark& mark : marks) {
    const double half = sheet.width_of(mark.text) / 2, at = kPlot * sheet.width * place(mark.at);
    if (at - half < end) continue;
    kept.push_back(mark);
    end = at + half + kGap * sheet.letter();
  }
  return kept;
}

}  // namespace

std::string short_number(double value, unsigned digits) {
  constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; value >= 1000 * (1 - 1e-9) && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  return fmt::format("{:.{}g}{}", value, digits, kPrefixes[prefix]);
}

std::vector<double> round_numbers(double least, double most, unsigned count) {
  const double step = round_step(most - least, count);
  std::vector<double> numbers;
  constexpr double kSlack = 1e-9;
  const double first = std::ceil(least / step - kSlack) + 0.0;  // avoids -0
  for (double i = first; i * step <= most + kSlack * step; ++i) numbers.push_back(i * step);
  return numbers;
}

std::vector<double> log_numbers(double low, double high, unsigned count) {
  const double decades = std::log10(high / low);
  const double apart = std::max(1.0, std::ceil(decades / count));
  // With few decades, also 2 and 5 times the powers of ten.
  const bool few = 3 * decades <= 1.5 * count;
  std::vector<double> numbers;
  for (double power = std::floor(std::log10(low)); std::pow(10, power) <= high; power += apart) {
    const double decade = std::pow(10, power);
    for (const double at : {decade, 2 * decade, 5 * decade}) {
      if (at >= low && at <= high && (at == decade || few)) numbers.push_back(at);
    }
  }
  constexpr std::size_t kLeast = 2;
  return numbers.size() < kLeast ? round_numbers(low, high, count) : numbers;
}

Extent extent_of(std::span<const double> values) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Extent extent{kInfinity, -kInfinity, kInfinity};
  for (const double value : values) {
    extent.least = std::min(extent.least, value);
    extent.most = std::max(extent.most, value);
    if (value > 0) extent.positive = std::min(extent.positive, value);
  }
  return extent;
}

Extent Extent::times(double scale) const { return {least * scale, most * scale, positive * scale}; }

double Axis::place(double value) const {
  if (value == 0 && zero != 0) value = zero;
  return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

std::string Axis::drawn(std::size_t column, double scale) const {
  const std::string value =
      scale == 1 ? fmt::format("${}", column) : fmt::format("${}*{}", column, scale);
  if (zero != 0) return fmt::format("(${}==0?{}:{})", column, zero, value);
  return fmt::format("({})", value);
}

std::string number_marks(double least, double most, unsigned count) {
  return text_of(marks_at(round_numbers(least, most, count)));
}

Axis linear_axis(std::string_view axis, double most, const Sheet& sheet) {
  if (most <= 0) most = 1;
  const unsigned count = axis == "x" ? sheet.marks_across() : sheet.marks_up();
  const double step = round_step(most, count);
  const double high = std::ceil(most / step) * step;
  return {fmt::format("set {}range [0:{}]\n", axis, high) +
              tics(axis, marks_at(round_numbers(0, high, count))),
          0, high};
}

Axis log_axis(std::string_view axis, const Extent& extent, const Sheet& sheet) {
  require_positive(axis, extent);
  constexpr double kRoom = 1.25;
  const double zero = place_of_zero(extent);
  const double low = (zero > 0 ? zero : extent.positive) / kRoom, high = extent.most * kRoom;
  std::vector<Mark> marks =
      marks_at(log_numbers(zero > 0 ? extent.positive / kRoom : low, high,
                           axis == "x" ? sheet.marks_across() : sheet.marks_up()));
  if (zero > 0) marks.insert(marks.begin(), {"0", zero});
  return {fmt::format("set logscale {0}\nset {0}range [{1}:{2}]\n", axis, low, high) +
              tics(axis, marks),
          low, high, true, zero};
}

Axis axis_of(std::string_view axis, bool logarithmic, const Extent& extent, const Sheet& sheet) {
  if (logarithmic) return log_axis(axis, extent, sheet);
  if (axis != "cb") return linear_axis(axis, extent.most, sheet);
  double most = extent.most;
  if (most <= extent.least) most = extent.least == 0 ? 1 : extent.least + std::abs(extent.least);
  return {fmt::format("set cbrange [{}:{}]\n", extent.least, most) +
              tics(axis, marks_at(round_numbers(extent.least, most, sheet.marks_up()))),
          extent.least, most};
}

Axis x_axis(const Pivot& pivot, bool logarithmic, const Sheet& sheet) {
  constexpr std::size_t kMostMarks = 12;
  constexpr double kRoom = 0.04;
  const Extent extent = extent_of(pivot.x_values);
  if (logarithmic) require_positive("x", extent);
  const double zero = logarithmic ? place_of_zero(extent) : 0;
  const double least = zero > 0 ? zero : extent.least, most = extent.most;
  const auto place = [&](double at) {
    if (most <= least) return 0.5;
    return logarithmic ? std::log(at / least) / std::log(most / least)
                       : (at - least) / (most - least);
  };
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < pivot.x_values.size(); ++i) {
    marks.push_back(
        {pivot.x_texts[i], pivot.x_values[i] == 0 && zero > 0 ? zero : pivot.x_values[i]});
  }
  if (marks.size() > kMostMarks) {
    marks = marks_at(logarithmic ? log_numbers(extent.positive, most, sheet.marks_across())
                                 : round_numbers(least, most, sheet.marks_across()));
    if (zero > 0) marks.insert(marks.begin(), {"0", zero});
  }
  const double aside = most > least ? kRoom * (most - least) : 1;
  const double factor = most > least ? std::pow(most / least, kRoom) : 2;
  const double low = logarithmic ? least / factor : least - aside;
  const double high = logarithmic ? most * factor : most + aside;
  return {fmt::format("{}set xrange [{}:{}]\n", logarithmic ? "set logscale x\n" : "", low, high) +
              tics("x", apart(marks, sheet, place)),
          low, high, logarithmic, zero};
}

std::string colours(const std::string& title, const Axis& axis, const Sheet& sheet) {
  return fmt::format(
             "set palette defined (0 '#440154', 1 '#46327e', 2 '#365c8d', 3 '#277f8e', 4 "
             "'#1fa187', 5 '#4ac16d', 6 '#a0da39', 7 '#fde725')\n"
             "set cblabel {} offset 0.5\n",
             wrapped(title, sheet, 0.8 * sheet.height)) +
         axis.script;
}

std::string colour_map(const std::string& title, const Axis& axis, const Sheet& sheet) {
  return colours(title, axis, sheet) +
         "set border 0\nunset grid\nset tics scale 0\nunset key\nset datafile missing\n";
}

std::string cells_with(std::size_t cells) {
  constexpr std::size_t kMostRectangles = 10000;
  return cells <= kMostRectangles ? "image pixels" : "image";
}

bool is_bright(double place) {
  constexpr double kBright = 0.55;
  return place > kBright;
}

}  // namespace tessera::plot
