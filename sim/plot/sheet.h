#pragma once

#include <span>
#include <string>

namespace tessera::plot {

/// The sheet of a figure, and its font.
struct Sheet {
  double width = 7.6;         ///< inches
  double height = 0;          ///< inches; 0: chosen by the kind
  double size = 9;            ///< font size in points
  std::string font = "sans";  ///< font family

  /// Average width of a letter, and height of a line, in inches.
  [[nodiscard]] double letter() const;
  [[nodiscard]] double line() const;
  [[nodiscard]] double width_of(const std::string& text) const;
  [[nodiscard]] double widest(std::span<const std::string> texts) const;
  /// True if it is too narrow for a key beside the figure; the key is then above it.
  [[nodiscard]] bool is_narrow() const;
  /// Number of marks that fit along each axis.
  [[nodiscard]] unsigned marks_across() const;
  [[nodiscard]] unsigned marks_up() const;
};

/// "3.3in", "84mm", "8.4cm" or "240pt" in inches. Throws UserError naming the option.
double inches_of(const std::string& text, const std::string& option);
/// "8" or "8pt" in points. Throws UserError naming the option.
double points_of(const std::string& text, const std::string& option);

/// Quotes a text for gnuplot, with line breaks at spaces where it is wider than `inches`.
std::string wrapped(const std::string& text, const Sheet& sheet, double inches);
/// Number of lines that wrapped() makes.
std::size_t lines_of(const std::string& text, const Sheet& sheet, double inches);

}  // namespace tessera::plot
