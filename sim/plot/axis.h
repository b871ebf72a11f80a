#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plot/pivot.h"
#include "sim/plot/sheet.h"

/// Numeric axes for gnuplot.
namespace tessera::plot {

/// The range of an axis's values.
struct Extent {
  double least, most;
  double positive;  ///< least value above zero; infinite if there is none

  [[nodiscard]] Extent times(double scale) const;
  /// True if all values are positive and the largest exceeds `factor` times the least: on an axis
  /// from zero, the small ones would be invisible.
  [[nodiscard]] bool is_wide(double factor) const { return least > 0 && most > factor * least; }
};

Extent extent_of(std::span<const double> values);

struct Axis {
  std::string script;
  double low, high;
  bool logarithmic = false;
  double zero = 0;  ///< where a logarithmic axis shows the value 0; 0: not needed

  /// Position along the axis, 0 to 1.
  [[nodiscard]] double place(double value) const;
  /// gnuplot term for `using`: a column times `scale`.
  [[nodiscard]] std::string drawn(std::size_t column, double scale) const;
};

/// Formats 5000 as "5k", 0.2 as "0.2".
std::string short_number(double value, unsigned digits = 6);

/// Round numbers from `least` to `most`, in at most `count` steps.
std::vector<double> round_numbers(double least, double most, unsigned count);

/// Powers of ten, thinned to about `count`; also 2 and 5 times those if there are few.
std::vector<double> log_numbers(double low, double high, unsigned count);

/// Marks at round numbers from `least` to `most`, in at most `count` steps: "'1.5M' 1500000, '2M'
/// 2000000".
std::string number_marks(double least, double most, unsigned count = 10);

/// A linear axis ("x" or "y") from zero to a round number of at least `most`, in drawn units.
Axis linear_axis(std::string_view axis, double most, const Sheet& sheet);

/// A logarithmic axis ("x", "y", or "cb" of colours) with margins at its ends. Zeros are shown at
/// its beginning, before a gap. Throws UserError for negative numbers, and if none is positive.
Axis log_axis(std::string_view axis, const Extent& extent, const Sheet& sheet);

/// log_axis() or linear_axis(). A linear axis of colours begins at the least number, not at zero.
Axis axis_of(std::string_view axis, bool logarithmic, const Extent& extent, const Sheet& sheet);

/// The horizontal axis of a pivot: marks at the values themselves if there are few.
Axis x_axis(const Pivot& pivot, bool logarithmic, const Sheet& sheet);

/// The colours of a colour axis ("cb"), with their scale beside the figure: viridis, which is
/// readable with red-green colour blindness.
std::string colours(const std::string& title, const Axis& axis, const Sheet& sheet);

/// Sets up a map of cells, without border and grid.
std::string colour_map(const std::string& title, const Axis& axis, const Sheet& sheet);

/// gnuplot's style for `cells` cells: sharp rectangles, or a single image if there are many.
std::string cells_with(std::size_t cells);

/// True if text on the colour at `place` (0 to 1) of the scale should be black rather than white.
bool is_bright(double place);

}  // namespace tessera::plot
