#include <array>

#include "sim/plot/figure.h"

namespace tessera::plot {

std::span<const Kind> kinds() {
  constexpr const char* kTime = "time.cycles";
  static constexpr std::array kKinds = {
      Kind{"lines", Needs::runs, kTime, lines},
      Kind{"bars", Needs::runs, kTime, bars},
      Kind{"stacked", Needs::runs, kTime, stacked},
      Kind{"heatmap", Needs::runs, kTime, heatmap},
      Kind{"speedup", Needs::runs, kTime, speedup},
      Kind{"pareto", Needs::runs, kTime, pareto},
      Kind{"roofline", Needs::runs, "rate.useful_flops_per_second", roofline},
      Kind{"tornado", Needs::sensitivity, "time", tornado},
      Kind{"timeline", Needs::one_run, kTime, timeline},
      Kind{"tiles", Needs::one_run, "compute_cycles", tiles}};
  return kKinds;
}

}  // namespace tessera::plot
