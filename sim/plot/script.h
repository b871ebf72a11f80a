#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/plot/axis.h"
#include "sim/plot/figure.h"
#include "sim/plot/pivot.h"
#include "sim/plot/quantity.h"

/// Pieces of gnuplot scripts.
namespace tessera::plot {

inline constexpr const char* kNoLog = "none";

/// A text as gnuplot reads it, in single quotes.
std::string literal(const std::string& text);

/// Marks at 0, 1, 2 ...: so many of the texts that each has its room.
std::string thinned_marks(const std::vector<std::string>& texts, double room, double each);

/// A font of so many points, as gnuplot reads it.
std::string font_of(double points);

/// One of seven colours that all readers can tell apart (Okabe and Ito), again from the eighth on.
std::string colour(std::size_t series);
/// "lc ... pt ..." of marks.
std::string mark_style(std::size_t series);
/// "lc ... pt ... dt ..." of a line: where colours repeat, dashes differ.
std::string line_style(std::size_t series);

/// "lc ... fs ..." of a bar: where colours repeat, they are hatched.
std::string fill_style(std::size_t series);

/// The request's sheet; as high as it says, or else `tall` times its width.
Sheet sheet_of(const Request& request, double tall);

/// Texts around a figure, unless the request says otherwise.
struct Headings {
  std::string title;
  std::string x{}, y{};  ///< titles of the axes
  std::string key{};     ///< above the key
};
/// Inches that a heading ("title", "xlabel", "ylabel") may be long before it is broken.
double heading_width(const Sheet& sheet, std::string_view what);
std::string heading(const Headings& texts, const Request& request, const Sheet& sheet);

/// True if the request, or else the numbers, want a logarithmic axis.
bool wants_log(const Request& request, char axis, bool by_default);

/// "'DATA' using 1:($2*scale) title ..., ..." for each series of a pivot, `with` between.
std::string curves(const Pivot& pivot, const Axis& x, const Axis& y, double scale);

/// The axes that a request leaves open: x (of numbers, the one with most values, if `numeric`), y
/// and what tells the series apart. Checks those it names. Throws UserError.
Request completed(const Rows& rows, const Request& request, bool numeric);

/// Title of x, with the axes that go with it and are not in `by`: "m, with n" of two swept
/// together.
std::string x_title(const Rows& rows, const Request& request);

/// Quantity of an axis that several share: the name of one, else the unit alone. Throws UserError
/// if their units differ.
Quantity shared_quantity(const std::vector<std::string>& y, double largest);

/// A sample a row and quantity that the row has; all of one unit. Throws UserError.
std::vector<Sample> samples_of(const Rows& rows, const std::vector<std::string>& y);

/// ", best n of each" behind the label of what is drawn, or nothing.
std::string best_note(const Request& request);

/// Title from what the runs share: "gemm 64x64x64 f16 on bow, 1472 tiles".
std::string title_of(const Rows& rows, const Request& request);

}  // namespace tessera::plot
