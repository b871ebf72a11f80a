#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "sim/plot/figure.h"
#include "sim/plot/quantity.h"
#include "sim/plot/script.h"

/// Bars of parts on top of each other, in groups.
namespace tessera::plot {

struct Bar {
  std::string name;
  std::vector<double> parts;  ///< empty: no run is there
  bool infeasible = false;    ///< none can be
  std::string above{};        ///< text above the bar

  [[nodiscard]] double height() const { return std::accumulate(parts.begin(), parts.end(), 0.0); }
};

struct BarGroup {
  std::string name;  ///< empty: the bars of the only group stand alone
  std::vector<Bar> bars;
};

using BarPart = PartLook;

struct BarChart {
  std::string group_key, bar_key;  ///< key paths (or words) of what groups and bars are named by
  std::vector<BarPart> parts;
  std::vector<BarGroup> groups;  ///< all of as many bars

  [[nodiscard]] double highest() const;
};

/// The numbers of a section of report.json that sum up to a whole, those that are zero in all runs
/// left out: all, but of `time` those that make up its cycles.
std::vector<std::string> parts_of_section(const Rows& rows, const std::string& section);

/// The sections and numbers that are drawn, as paths of numbers. Throws UserError.
std::vector<std::string> stacked_paths(const Rows& rows, const std::vector<std::string>& y);

/// Names and colours of the numbers at these paths.
std::vector<BarPart> looks_of(const std::vector<std::string>& paths);

/// The name of a section: "time" of "time" and of "time.cycles".
std::string section_of(const std::string& path);

/// Names stand below their bars, upright where they have no room, groups' names below those; where
/// bars are too narrow for names, the label below and a remark name them in their order. Throws
/// UserError if the bars themselves have no room.
Figure draw_groups(const BarChart& chart, const Headings& texts, const Request& request,
                   const Quantity& y);

}  // namespace tessera::plot
