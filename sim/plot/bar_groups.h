#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "sim/plot/figure.h"
#include "sim/plot/quantity.h"
#include "sim/plot/script.h"

/// Stacked bars in groups.
namespace tessera::plot {

struct Bar {
  std::string name;
  std::vector<double> parts;  ///< empty: no run
  bool infeasible = false;    ///< the config cannot run
  std::string above{};        ///< text above the bar

  [[nodiscard]] double height() const { return std::accumulate(parts.begin(), parts.end(), 0.0); }
};

struct BarGroup {
  std::string name;  ///< empty: a single group without a name
  std::vector<Bar> bars;
};

using BarPart = PartLook;

struct BarChart {
  std::string group_key, bar_key;  ///< key paths (or words) that groups and bars are named by
  std::vector<BarPart> parts;
  std::vector<BarGroup> groups;  ///< all with the same number of bars

  [[nodiscard]] double highest() const;
};

/// The numbers of a section of report.json that sum up to a whole: all of them, but of `time` only
/// the parts of its cycles. Leaves out those that are zero in all runs.
std::vector<std::string> parts_of_section(const Rows& rows, const std::string& section);

/// The paths of the numbers that `y`, sections or numbers, selects. Throws UserError.
std::vector<std::string> stacked_paths(const Rows& rows, const std::vector<std::string>& y);

/// Names and colours of the numbers at these paths.
std::vector<BarPart> looks_of(const std::vector<std::string>& paths);

/// The section of a path: "time" for "time" and for "time.cycles".
std::string section_of(const std::string& path);

/// Draws names below their bars, turned if they do not fit, and groups' names below those. If bars
/// are too narrow for names, the label below and a remark list the names in order. Throws UserError
/// if the bars themselves do not fit.
Figure draw_groups(const BarChart& chart, const Headings& texts, const Request& request,
                   const Quantity& y);

}  // namespace tessera::plot
