#pragma once

#include <string>

/// Colours for numbers, for scripts of gnuplot.
namespace tessera::plot {

/// A palette that is even in brightness and the same for all readers (viridis), and the title of
/// its bar, from `least` to `most`. Cells without a value are to be NaN: they stay white.
std::string colour_map(const std::string& title, double least, double most);

/// How cells are drawn: as rectangles, or as one picture where they are many.
std::string cells_with(std::size_t cells);

}  // namespace tessera::plot
