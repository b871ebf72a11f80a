#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plot/pivot.h"
#include "sim/plot/sheet.h"

/// Axes of numbers, as gnuplot reads them.
namespace tessera::plot {

/// The range of an axis's numbers.
struct Extent {
  double least, most;
  double positive;  ///< the least above zero; infinite if there is none

  [[nodiscard]] Extent times(double scale) const;
  /// All are above zero, and the largest is more than `factor` times the least: an axis from zero
  /// would hide the small ones.
  [[nodiscard]] bool is_wide(double factor) const { return least > 0 && most > factor * least; }
};

Extent extent_of(std::span<const double> values);

struct Axis {
  std::string script;
  double low, high;
  bool logarithmic = false;
  double zero = 0;  ///< where a logarithmic axis shows zero, which it has no place for; 0: no need

  /// From 0 to 1 along the axis.
  [[nodiscard]] double place(double value) const;
  /// Term of `using`: a column times `scale`.
  [[nodiscard]] std::string drawn(std::size_t column, double scale) const;
};

/// 5000 as "5k", 0.2 as it is.
std::string short_number(double value, unsigned digits = 6);

/// Round numbers from `least` to `most`, at most so many steps.
std::vector<double> round_numbers(double least, double most, unsigned count);

/// Powers of ten, as many as fit, and 2 and 5 times such.
std::vector<double> log_numbers(double low, double high, unsigned count);

/// Marks at round numbers from `least` to `most`, at most so many steps: "'1.5M' 1500000, '2M'
/// 2000000".
std::string number_marks(double least, double most, unsigned count = 10);

/// An axis ("x" or "y") from zero to `most`, as drawn, and a little more.
Axis linear_axis(std::string_view axis, double most, const Sheet& sheet);

/// A logarithmic axis ("x", "y", or "cb" of colours) and a little room at its ends. Zeros stand
/// before a gap at its beginning. Throws UserError for numbers below zero, and if none is above.
Axis log_axis(std::string_view axis, const Extent& extent, const Sheet& sheet);

/// One of both. A linear axis of colours begins at the least number, not at zero.
Axis axis_of(std::string_view axis, bool logarithmic, const Extent& extent, const Sheet& sheet);

/// The horizontal axis of a pivot: marks at the values themselves while they are few.
Axis x_axis(const Pivot& pivot, bool logarithmic, const Sheet& sheet);

/// Colours along an axis of them ("cb"), with their scale beside the figure: viridis, even to eyes
/// that tell no red from green.
std::string colours(const std::string& title, const Axis& axis, const Sheet& sheet);

/// Draws a map of cells, which needs no frame.
std::string colour_map(const std::string& title, const Axis& axis, const Sheet& sheet);

/// How gnuplot draws so many cells: as rectangles, of which none is blurred; as one picture if they
/// are many.
std::string cells_with(std::size_t cells);

/// Black or white, by which a text can be read on a colour at `place` (0 to 1) of the scale.
bool is_bright(double place);

}  // namespace tessera::plot
