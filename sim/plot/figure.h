#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plot/rows.h"
#include "sim/plot/sheet.h"
#include "sim/report/run_folder.h"
#include "sim/trace/recording.h"

namespace tessera::plot {

/// A drawing as values: a table and the gnuplot commands that draw it.
struct Figure {
  std::string csv;
  /// Commands between the choice of the terminal and the end. The table's file is `data`.
  std::string script;
  Sheet sheet{};
  std::vector<std::string> remarks{};  ///< notes that a reader needs, each a line
};

/// Options of a figure. An empty one is chosen by the kind.
struct Request {
  std::string x;                ///< key path (or arithmetic over some) along the horizontal axis
  std::vector<std::string> y;   ///< quantities to draw
  std::vector<std::string> by;  ///< key paths that tell lines apart
  std::vector<std::string> baseline;
  std::vector<std::string> best;  ///< axes over which the rows are the best (`rows.h`)
  std::optional<std::string> title, xlabel, ylabel;  ///< instead of those that the kind writes
  std::string log;                                   ///< "", "none", or letters of axes: "x", "xy"
  std::string sample;                                ///< raster's; empty: the first one
  std::string tiles, from, to;                       ///< part of a trace; empty: all of it
  Sheet sheet{};                                     ///< its height is the kind's, if it has none
};

/// Source of a kind: runs, the tables of one run's folder, what `tessera sensitivity` left in one
/// folder, a trace, or either of a run and its trace.
enum class Needs : std::uint8_t { runs, one_run, sensitivity, trace, run_or_trace };

/// Source of a figure.
struct Source {
  Rows rows;
  const report::RunFolder* run = nullptr;  ///< for kinds of one run
  const Json* sensitivity = nullptr;
  const trace::Recording* trace = nullptr;
};

struct Kind {
  std::string_view name;
  Needs needs;
  const char* y;     ///< the quantity to draw, and for --best, unless the request names one
  const char* logs;  ///< the axes that can be logarithmic or not: of "xyz"; z: colours
  /// Options of what is drawn that it reads; of a trace tiles, from and to instead.
  std::string_view options;
  Figure (*draw)(const Source&, const Request&);
};

/// All kinds of figure.
std::span<const Kind> kinds();

Figure lines(const Source& source, const Request& request);
Figure bars(const Source& source, const Request& request);
Figure stacked(const Source& source, const Request& request);
Figure comparison(const Source& source, const Request& request);
Figure matrix(const Source& source, const Request& request);
Figure heatmap(const Source& source, const Request& request);
Figure roofline(const Source& source, const Request& request);
Figure parallel(const Source& source, const Request& request);
Figure pareto(const Source& source, const Request& request);
Figure scatter(const Source& source, const Request& request);
Figure speedup(const Source& source, const Request& request);
Figure raster(const Source& source, const Request& request);
Figure stages(const Source& source, const Request& request);
Figure tiles(const Source& source, const Request& request);
Figure tornado(const Source& source, const Request& request);
Figure timeline(const Source& source, const Request& request);
Figure trace_timeline(const Source& source, const Request& request);
Figure traffic(const Source& source, const Request& request);
Figure utilisation(const Source& source, const Request& request);
Figure training(const Source& source, const Request& request);

}  // namespace tessera::plot
