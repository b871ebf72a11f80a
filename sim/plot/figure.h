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

/// A figure: a table and the gnuplot commands that draw it.
struct Figure {
  std::string csv;
  /// Commands between the choice of the terminal and the end. `data` names the table's file.
  std::string script;
  Sheet sheet{};
  std::vector<std::string> remarks{};  ///< notes for the reader, one line each
};

/// Options of a figure. The kind chooses those that are empty.
struct Request {
  std::string x;                ///< key path or arithmetic on the horizontal axis
  std::vector<std::string> y;   ///< quantities to draw
  std::vector<std::string> by;  ///< key paths that distinguish series
  std::vector<std::string> baseline;
  std::vector<std::string> best;  ///< axes over which to take the best run (`rows.h`)
  std::optional<std::string> title, xlabel, ylabel;  ///< override those of the kind
  std::string log;                                   ///< "", "none", or letters of axes: "x", "xy"
  std::string sample;                                ///< for raster; empty: the first one
  std::string tiles, from, to;                       ///< part of a trace; empty: all
  Sheet sheet{};                                     ///< the kind chooses the height if it is 0
};

/// The source that a kind needs: runs, the tables of one run's folder, the file of `tessera
/// sensitivity` in a folder, a trace, or either a run or its trace.
enum class Needs : std::uint8_t { runs, one_run, sensitivity, trace, run_or_trace };

/// Source of a figure.
struct Source {
  Rows rows;
  const report::RunFolder* run = nullptr;  ///< for kinds that show one run
  const Json* sensitivity = nullptr;
  const trace::Recording* trace = nullptr;
};

struct Kind {
  std::string_view name;
  Needs needs;
  const char* y;     ///< default quantity to draw, also for --best
  const char* logs;  ///< the axes that may be logarithmic: of "xyz"; z: colours
  /// Figure options that it reads; for a trace it reads tiles, from and to instead.
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
