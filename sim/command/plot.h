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
                                     ///< scatter of a random sweep, lines otherwise
  plot::Request figure;
  std::string width, height, size;   ///< sizes of sheet and font, as written
  std::vector<std::string> where;    ///< path=value
  std::string out;                   ///< the figure's folder, or its file in one format;
                                     ///< empty: `plots` in the last folder
  std::string name;                  ///< name of its files; empty: the kind and the request
  std::vector<std::string> formats;  ///< empty: svg, pdf and png
};

/// Draws a figure of sweeps or runs; stores its table and gnuplot script with it.
ExitCode plot(const PlotRequest& request);

/// The default name of a figure's files: the kind and the request in words, then a digest if the
/// words are ambiguous, so that no two figures share a name.
std::string plot_name(const PlotRequest& request, std::string_view kind);

}  // namespace tessera::command
