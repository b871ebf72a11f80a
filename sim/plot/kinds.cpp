#include <array>

#include "sim/plot/figure.h"

namespace tessera::plot {

std::span<const Kind> kinds() {
  constexpr const char* kTime = "time.cycles";
  static constexpr std::array kKinds = {
      Kind{"lines", Needs::runs, kTime, "xy", lines},
      Kind{"bars", Needs::runs, kTime, "y", bars},
      Kind{"stacked", Needs::runs, kTime, "", stacked},
      Kind{"comparison", Needs::runs, kTime, "", comparison},
      Kind{"heatmap", Needs::runs, kTime, "z", heatmap},
      Kind{"scatter", Needs::runs, kTime, "xyz", scatter},
      Kind{"parallel", Needs::runs, kTime, "z", parallel},
      Kind{"speedup", Needs::runs, kTime, "xy", speedup},
      Kind{"pareto", Needs::runs, kTime, "xy", pareto},
      Kind{"roofline", Needs::runs, "rate.useful_flops_per_second", "", roofline},
      Kind{"tornado", Needs::sensitivity, "time", "", tornado},
      Kind{"timeline", Needs::run_or_trace, kTime, "", timeline},
      Kind{"utilisation", Needs::trace, "", "", utilisation},
      Kind{"traffic", Needs::trace, "", "", traffic},
      Kind{"matrix", Needs::run_or_trace, "", "z", matrix},
      Kind{"training", Needs::one_run, "results.loss", "", training},
      Kind{"stages", Needs::one_run, "stages", "", stages},
      Kind{"raster", Needs::one_run, "results.layers", "", raster},
      Kind{"tiles", Needs::one_run, "compute_cycles", "z", tiles}};
  return kKinds;
}

}  // namespace tessera::plot
