#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/plot/figure.h"
#include "sim/plot/pivot.h"
#include "sim/plot/quantity.h"

/// Pieces of gnuplot scripts.
namespace tessera::plot {

/// A text as gnuplot reads it, in single quotes.
std::string literal(const std::string& text);

/// One of seven colours that all readers can tell apart (Okabe and Ito), again from the eighth on.
std::string colour(std::size_t series);
/// "lc ... pt ... dt ..." of a line: where colours repeat, dashes differ.
std::string line_style(std::size_t series);

/// Title, labels of both axes and the key's title.
std::string heading(const std::string& title, const std::string& x, const std::string& y,
                    const std::string& key_title);

/// Whether the request, or else the numbers, want a logarithmic axis.
bool wants_log(const Request& request, char axis, bool by_default);

/// The horizontal axis of numbers: marks at the values themselves while they are few.
std::string x_axis(const Pivot& pivot, bool logarithmic);
/// Marks at round numbers from `least` to `most`: "'1.5M' 1500000, '2M' 2000000".
std::string number_marks(double least, double most);
/// An axis ('x' or 'y') from zero to `most`, as drawn, and a little more.
std::string from_zero(char axis, double most);

/// A logarithmic axis ('x' or 'y') from `least` to `most`, both above zero, and a little more.
std::string log_axis(char axis, double least, double most);

/// The vertical axis of numbers from `least` to `most`, as drawn: from zero, unless logarithmic.
std::string y_axis(bool logarithmic, double least, double most);

/// "'DATA' using 1:($2*scale) title ..., ..." for each series of a pivot, `with` between.
std::string curves(const Pivot& pivot, double scale);

/// The axes that a request leaves open: x (of numbers, the one with most values, if `numeric`), y
/// and what tells the series apart. Checks those it names. Throws UserError.
Request completed(const Rows& rows, const Request& request, bool numeric);

/// A sample a row and quantity that the row has.
std::vector<Sample> samples_of(const Rows& rows, const std::vector<std::string>& y);

/// ", best n of each" behind the label of what is drawn, or nothing.
std::string best_note(const Request& request);

/// "workload.n" of several runs as a title: "gemm on bow".
std::string title_of(const Rows& rows, const Request& request);

}  // namespace tessera::plot
