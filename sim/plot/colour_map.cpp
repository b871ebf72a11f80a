#include "sim/plot/colour_map.h"

#include <cmath>

#include <fmt/format.h>

#include "sim/plot/script.h"

namespace tessera::plot {

std::string colour_map(const std::string& title, double least, double most) {
  if (most <= least) most = least == 0 ? 1 : least + std::abs(least);
  return fmt::format(
      "set palette defined (0 '#440154', 1 '#46327e', 2 '#365c8d', 3 '#277f8e', 4 '#1fa187', "
      "5 '#4ac16d', 6 '#a0da39', 7 '#fde725')\n"
      "set cblabel {} offset 1\nset cbrange [{}:{}]\nset border 0\nunset grid\n"
      "set tics scale 0\nset cbtics ({})\nunset key\nset datafile missing\n",
      literal(title), least, most, number_marks(least, most));
}

std::string cells_with(std::size_t cells) {
  constexpr std::size_t kMostRectangles = 10000;
  return cells <= kMostRectangles ? "image pixels" : "image";
}

}  // namespace tessera::plot
