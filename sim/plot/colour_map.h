#pragma once

#include <cstddef>
#include <string>

#include "sim/plot/axis.h"

namespace tessera::plot {

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
