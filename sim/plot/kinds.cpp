#include <array>

#include "sim/plot/figure.h"

namespace tessera::plot {

std::span<const Kind> kinds() {
  constexpr const char* kTime = "time.cycles";
  static constexpr std::array kKinds = {
      Kind{"lines", Needs::runs, kTime, "xy", "x y by best where", lines},
      Kind{"bars", Needs::runs, kTime, "y", "x y by best where", bars},
      Kind{"stacked", Needs::runs, kTime, "", "x y by best where", stacked},
      Kind{"comparison", Needs::runs, kTime, "", "y by best where", comparison},
      Kind{"heatmap", Needs::runs, kTime, "z", "x y by best where", heatmap},
      Kind{"scatter", Needs::runs, kTime, "xyz", "x y by best where", scatter},
      Kind{"parallel", Needs::runs, kTime, "z", "x y by best where", parallel},
      Kind{"speedup", Needs::runs, kTime, "xy", "x y by best where baseline", speedup},
      Kind{"pareto", Needs::runs, kTime, "xy", "x y by best where", pareto},
      Kind{"roofline", Needs::runs, "rate.useful_flops_per_second", "", "by best where", roofline},
      Kind{"tornado", Needs::sensitivity, "time", "", "y", tornado},
      Kind{"timeline", Needs::run_or_trace, kTime, "", "", timeline},
      Kind{"utilisation", Needs::trace, "", "", "", utilisation},
      Kind{"traffic", Needs::trace, "", "", "", traffic},
      Kind{"matrix", Needs::run_or_trace, "", "z", "", matrix},
      Kind{"training", Needs::one_run, "results.loss", "", "", training},
      Kind{"stages", Needs::one_run, "stages", "", "", stages},
      Kind{"raster", Needs::one_run, "results.layers", "", "sample", raster},
      Kind{"tiles", Needs::one_run, "compute_cycles", "z", "y", tiles}};
  return kKinds;
}

}  // namespace tessera::plot
