#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/plot/axis.h"
#include "sim/plot/figure.h"
#include "sim/plot/pivot.h"
#include "sim/plot/quantity.h"

/// Parts of gnuplot scripts.
namespace tessera::plot {

inline constexpr const char* kNoLog = "none";

/// Quotes a text for gnuplot.
std::string literal(const std::string& text);

/// Marks at 0, 1, 2 ..., thinned until each has `each` of `room`.
std::string thinned_marks(const std::vector<std::string>& texts, double room, double each);

/// A font of this size in points, for gnuplot.
std::string font_of(double points);

/// One of seven colours that are distinct for colour-blind readers (Okabe and Ito), repeating.
std::string colour(std::size_t series);
/// "lc ... pt ..." of points.
std::string mark_style(std::size_t series);
/// "lc ... pt ... dt ..." of a line: dashes differ when colours repeat.
std::string line_style(std::size_t series);

/// "lc ... fs ..." of a bar: hatched when colours repeat.
std::string fill_style(std::size_t series);

/// The request's sheet; its height is the request's, or else `tall` times its width.
Sheet sheet_of(const Request& request, double tall);

/// Texts around a figure; the request may override them.
struct Headings {
  std::string title;
  std::string x{}, y{};  ///< titles of the axes
  std::string key{};     ///< above the key's entries
};
/// Maximum width of a heading ("title", "xlabel", "ylabel") in inches; longer ones are wrapped.
double heading_width(const Sheet& sheet, std::string_view what);
std::string heading(const Headings& texts, const Request& request, const Sheet& sheet);

/// True if the axis should be logarithmic: by the request, else by `by_default`.
bool wants_log(const Request& request, char axis, bool by_default);

/// The plot command with a line per series of a pivot; y is scaled by `scale`.
std::string curves(const Pivot& pivot, const Axis& x, const Axis& y, double scale);

/// Fills in a request: x (the axis with most values, of numbers if `numeric`), y, and the axes that
/// distinguish series. Checks given paths. Throws UserError.
Request completed(const Rows& rows, const Request& request, bool numeric);

/// Title of x and of axes that vary only with it and are not in `by`: "m, with n".
std::string x_title(const Rows& rows, const Request& request);

/// Quantity of an axis that several paths share: a single one's label, else the unit alone. Throws
/// UserError if their units differ.
Quantity shared_quantity(const std::vector<std::string>& y, double largest);

/// One sample per row and quantity that the row has. Throws UserError if the units differ.
std::vector<Sample> samples_of(const Rows& rows, const std::vector<std::string>& y);

/// ", best n of each", to follow a quantity's label; empty without --best.
std::string best_note(const Request& request);

/// Title from the values that all runs share: "gemm 64x64x64 f16 on bow, 1472 tiles".
std::string title_of(const Rows& rows, const Request& request);

}  // namespace tessera::plot
