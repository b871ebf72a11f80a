#include <array>

#include "sim/plot/figure.h"

namespace tessera::plot {

std::span<const Kind> kinds() {
  static constexpr std::array kKinds = {
      Kind{"lines", false, lines},      Kind{"bars", false, bars},
      Kind{"heatmap", false, heatmap},  Kind{"speedup", false, speedup},
      Kind{"pareto", false, pareto},    Kind{"roofline", false, roofline},
      Kind{"timeline", true, timeline}, Kind{"tiles", true, tiles}};
  return kKinds;
}

}  // namespace tessera::plot
