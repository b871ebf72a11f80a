#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/plot/figure.h"

namespace tessera::command {

/// The arguments of `tessera plot`.
struct PlotRequest {
  std::vector<std::string> folders;  ///< folders of sweeps and runs
  std::string kind;                  ///< empty: timeline of a run, comparison of runs,
                                     ///< scatter of a random sweep, lines of all else
  plot::Request figure;
  std::string width, height, size;   ///< sizes of sheet and letters, as written
  std::vector<std::string> where;    ///< path=value
  std::string out;                   ///< folder of the figure; empty: `plots` in the last folder
  std::string name;                  ///< name of its files; empty: the kind and the request
  std::vector<std::string> formats;  ///< empty: svg, pdf and png
};

/// Draws a figure of sweeps or runs and keeps its table and gnuplot script beside it.
ExitCode plot(const PlotRequest& request);

/// The name of a figure's files, unless the user gives one: the kind and what is drawn, as words;
/// then digits of a digest where words do not say all, so that no two figures have one name.
std::string plot_name(const PlotRequest& request, std::string_view kind);

}  // namespace tessera::command
