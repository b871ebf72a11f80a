#include <array>

#include "sim/plot/figure.h"

namespace tessera::plot {

std::span<const Kind> kinds() {
  constexpr const char* kTime = "time.cycles";
  static constexpr std::array kKinds = {
      Kind{"lines", false, kTime, lines},
      Kind{"bars", false, kTime, bars},
      Kind{"stacked", false, kTime, stacked},
      Kind{"heatmap", false, kTime, heatmap},
      Kind{"speedup", false, kTime, speedup},
      Kind{"pareto", false, kTime, pareto},
      Kind{"roofline", false, "rate.useful_flops_per_second", roofline},
      Kind{"timeline", true, kTime, timeline},
      Kind{"tiles", true, "compute_cycles", tiles}};
  return kKinds;
}

}  // namespace tessera::plot
