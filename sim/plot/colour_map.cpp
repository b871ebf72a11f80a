#include "sim/plot/colour_map.h"

#include <fmt/format.h>

#include "sim/plot/script.h"

namespace tessera::plot {

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
