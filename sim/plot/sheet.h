#pragma once

#include <span>
#include <string>

namespace tessera::plot {

/// The sheet that a figure is drawn on, and its letters.
struct Sheet {
  double width = 7.6;         ///< inches
  double height = 0;          ///< inches; 0: what suits the kind
  double size = 9;            ///< letter size in points
  std::string font = "sans";  ///< a family's name

  /// Width of a letter on average, and height of a line, in inches.
  [[nodiscard]] double letter() const;
  [[nodiscard]] double line() const;
  [[nodiscard]] double width_of(const std::string& text) const;
  [[nodiscard]] double widest(std::span<const std::string> texts) const;
  /// Too narrow for a key beside the figure: it stands above.
  [[nodiscard]] bool is_narrow() const;
  /// Number of round numbers along each axis that stand apart.
  [[nodiscard]] unsigned marks_across() const;
  [[nodiscard]] unsigned marks_up() const;
};

/// "3.3in", "84mm", "8.4cm" or "240pt" in inches. Throws UserError naming the option.
double inches_of(const std::string& text, const std::string& option);
/// "8" or "8pt" in points. Throws UserError naming the option.
double points_of(const std::string& text, const std::string& option);

/// A text as gnuplot reads it, broken at spaces where it is wider than `inches`.
std::string wrapped(const std::string& text, const Sheet& sheet, double inches);
/// How many lines wrapped() makes of it.
std::size_t lines_of(const std::string& text, const Sheet& sheet, double inches);

}  // namespace tessera::plot
