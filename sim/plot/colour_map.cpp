#include "sim/plot/colour_map.h"

#include <fmt/format.h>

#include "sim/plot/script.h"

namespace tessera::plot {

std::string colour_map(const std::string& title, double largest) {
  return fmt::format(
             "set palette defined (0 '#440154', 1 '#46327e', 2 '#365c8d', 3 '#277f8e', 4 "
             "'#1fa187', "
             "5 '#4ac16d', 6 '#a0da39', 7 '#fde725')\n"
             "set cblabel {} offset 1\nset datafile missing\nset border 0\nunset grid\nset tics "
             "scale 0\nunset key\n",
             literal(title)) +
         (largest >= 1e4 ? "set format cb '%.0s%c'\n" : "");
}

std::string cells_with(std::size_t cells) {
  constexpr std::size_t kMostRectangles = 10000;
  return cells <= kMostRectangles ? "image pixels" : "image";
}

}  // namespace tessera::plot
