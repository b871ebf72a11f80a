#include "sim/plot/bar_groups.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/frame.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

constexpr double kGap = 0.8;    // between groups, in bar widths
constexpr double kHalf = 0.43;  // half a bar's width

/// How names are drawn below their bars.
struct Names {
  int angle = 0;      ///< degrees
  double height = 0;  ///< inches; 0: omitted
};

constexpr double kSlope = 0.57, kReach = 0.82;  // sine and cosine of 35 degrees

/// Level if they fit, else turned by 35 or 90 degrees, else omitted.
Names names_within(const std::vector<std::string>& texts, double room, const Sheet& sheet) {
  const double widest = sheet.widest(texts), line = sheet.line(), most = 0.35 * sheet.height;
  if (widest == 0) return {};
  if (widest + 0.5 * sheet.letter() <= room) return {0, line};
  if (1.8 * line <= room && kSlope * widest + line <= most) return {35, kSlope * widest + line};
  if (0.9 * line <= room && widest <= most) return {90, widest + 0.3 * line};
  return {};
}

std::vector<std::string> names_of(const BarGroup& group) { return mapped(group.bars, &Bar::name); }

/// Positions, in units of bars along the axis.
struct Layout {
  const BarChart* chart;
  Frame frame;
  std::size_t each;  ///< bars in a group
  double low, high;  ///< ends of the axis
  Names bars, groups;

  [[nodiscard]] double place(std::size_t group, std::size_t bar) const {
    return static_cast<double>(group) * (static_cast<double>(each) + kGap) +
           static_cast<double>(bar);
  }
  [[nodiscard]] double middle(std::size_t group) const {
    return place(group, 0) + (static_cast<double>(each) - 1) / 2;
  }
  /// Inches from the sheet's left edge.
  [[nodiscard]] double along(double place) const {
    return frame.box.left + (place - low) / (high - low) * (frame.box.right - frame.box.left);
  }
};

/// True if a bar is missing because its config cannot run.
bool has_cross(const BarChart& chart) {
  return std::ranges::any_of(chart.groups, [](const BarGroup& group) {
    return std::ranges::any_of(group.bars,
                               [](const Bar& bar) { return bar.infeasible && bar.parts.empty(); });
  });
}

/// Chooses how names are drawn. Turned names extend to the left: moves the frame's left side so
/// that they stay on the sheet.
void place_names(Layout& layout) {
  const Sheet& sheet = layout.frame.sheet;
  const std::vector<BarGroup>& groups = layout.chart->groups;
  const auto choose = [&] {
    const Box& box = layout.frame.box;
    const double pitch = (box.right - box.left) / (layout.high - layout.low);
    layout.bars = names_within(names_of(groups.front()), pitch, sheet);
    layout.groups = names_within(mapped(groups, &BarGroup::name),
                                 pitch * (static_cast<double>(layout.each) + 0.5 * kGap), sheet);
  };
  choose();
  const auto make_room = [&](const std::string& name, double place) {
    const double share = (place - layout.low) / (layout.high - layout.low);
    const double reach = kReach * sheet.widest({&name, 1}) + 0.5 * sheet.letter();
    double& left = layout.frame.box.left;
    left = std::max(left, (reach - share * layout.frame.box.right) / (1 - share));
  };
  const bool turned = layout.bars.angle == 35 || layout.groups.angle == 35;
  for (std::size_t g = 0; g < groups.size() && turned; ++g) {
    if (layout.groups.angle == 35) make_room(groups[g].name, layout.middle(g));
    for (std::size_t b = 0; b < layout.each && layout.bars.angle == 35; ++b)
      make_room(groups[g].bars[b].name, layout.place(g, b));
  }
  if (turned) choose();
}

/// Lays out the frame, then makes room for names below it. Throws UserError if bars are too narrow.
Layout layout_of(const BarChart& chart, const Headings& texts, const Request& request,
                 const Sheet& sheet) {
  std::vector<std::string> entries = mapped(chart.parts, &BarPart::name);
  if (has_cross(chart)) entries.emplace_back("cannot run");
  const std::size_t each = chart.groups.front().bars.size();
  Layout made{&chart, Frame::with_key(texts, request, sheet, entries), each, -0.8, 0, {}, {}};
  made.high = made.place(chart.groups.size() - 1, each - 1) + 0.8;
  const double pitch = (made.frame.box.right - made.frame.box.left) / (made.high - made.low);
  constexpr double kLeast = 0.03;  // inches per bar
  if (pitch < kLeast)
    throw UserError(
        "tessera plot: found {} bars, allowed {} at this width: choose with --where, or give "
        "--width",
        each * chart.groups.size(),
        std::floor((made.frame.box.right - made.frame.box.left) / kLeast));
  place_names(made);
  // Frame::with_key() has reserved one line for names.
  if (sheet.is_narrow()) made.frame.box.top -= 0.3 * sheet.line();  // gap between key and title
  made.frame.box.bottom += std::max(0.0, made.bars.height + made.groups.height - sheet.line());
  return made;
}

/// Label for a name below the axis, with its upper end at `top` inches.
std::string name_below(const Layout& layout, const std::string& text, double place, double top,
                       const Names& names) {
  const Sheet& sheet = layout.frame.sheet;
  const double down = names.angle == 0 ? 0.5 * sheet.line() : 0.3 * sheet.line();
  return fmt::format("set label {} at {} {} tc rgb '#222222'\n", literal(text),
                     layout.frame.place({layout.along(place), top - down}),
                     names.angle == 0 ? "center" : fmt::format("rotate by {} right", names.angle));
}

std::string names_script(const Layout& layout) {
  std::string script;
  const double below = layout.frame.box.bottom - 0.15 * layout.frame.sheet.line();
  for (std::size_t g = 0; g < layout.chart->groups.size(); ++g) {
    const BarGroup& group = layout.chart->groups[g];
    if (layout.groups.height > 0)
      script += name_below(layout, group.name, layout.middle(g), below - layout.bars.height,
                           layout.groups);
    for (std::size_t b = 0; b < layout.each && layout.bars.height > 0; ++b)
      script += name_below(layout, group.bars[b].name, layout.place(g, b), below, layout.bars);
  }
  return script;
}

/// Commands for the texts above bars, and for crosses in place of bars that cannot run.
std::string marks_script(const Layout& layout, double scale) {
  std::string script;
  for (std::size_t g = 0; g < layout.chart->groups.size(); ++g) {
    for (std::size_t b = 0; b < layout.each; ++b) {
      const Bar& bar = layout.chart->groups[g].bars[b];
      if (bar.parts.empty() && bar.infeasible)
        script +=
            fmt::format("set label '' at first {},graph 0.03 point pt 2 ps 0.6 lc rgb '#888888'\n",
                        layout.place(g, b));
      if (!bar.above.empty())
        script += fmt::format("set label {} at first {},first {} center offset 0,0.6 front\n",
                              literal(bar.above), layout.place(g, b), bar.height() * scale);
    }
  }
  return script;
}

/// Draws each part as boxes on top of the parts below it.
std::string boxes(const Layout& layout, double scale) {
  const std::size_t first = layout.groups.height > 0 ? 3 : 2;  // column of the first part
  const std::string at = fmt::format("($0+{}*floor($0/{}))", kGap, layout.each);
  std::vector<std::string> parts;
  std::string below = "0";
  for (std::size_t i = 0; i < layout.chart->parts.size(); ++i) {
    const BarPart& part = layout.chart->parts[i];
    const std::string above = fmt::format("{}+${}*{}", below, first + i, scale);
    parts.push_back(fmt::format(
        "  data using {0}:({2}):({0}-{3}):({0}+{3}):({1}):({2}) with boxxyerror lc rgb '{4}' fs "
        "{5} noborder title {6}",
        at, below, above, kHalf, part.colour.empty() ? colour(i) : part.colour,
        part.colour.empty() && i >= 7 ? "pattern 1" : "solid 0.95", literal(part.name)));
    below = above;
  }
  if (has_cross(*layout.chart))
    parts.push_back("  keyentry with points pt 2 ps 0.6 lc rgb '#888888' title 'cannot run'");
  return fmt::format("plot \\\n{}\n", fmt::join(parts, ", \\\n"));
}

std::string csv_of(const BarChart& chart, bool grouped) {
  std::string csv = grouped ? sweep::csv_cell(chart.group_key) + "," : "";
  csv += sweep::csv_cell(chart.bar_key);
  for (const BarPart& part : chart.parts) csv += "," + sweep::csv_cell(part.name);
  csv += "\n";
  for (const BarGroup& group : chart.groups) {
    for (const Bar& bar : group.bars) {
      csv += (grouped ? sweep::csv_cell(group.name) + "," : "") + sweep::csv_cell(bar.name);
      for (std::size_t i = 0; i < chart.parts.size(); ++i)
        csv += bar.parts.empty() ? "," : fmt::format(",{}", bar.parts[i]);
      csv += "\n";
    }
  }
  return csv;
}

}  // namespace

double BarChart::highest() const {
  double most = 0;
  for (const BarGroup& group : groups) {
    for (const Bar& bar : group.bars) most = std::max(most, bar.height());
  }
  return most;
}

Figure draw_groups(const BarChart& chart, const Headings& texts, const Request& request,
                   const Quantity& y) {
  const bool grouped = chart.groups.size() > 1 || !chart.groups.front().name.empty();
  const bool noted = !chart.groups.front().bars.front().above.empty();
  Figure figure;
  figure.sheet = sheet_of(request, 0.6);
  Layout layout = layout_of(chart, texts, request, figure.sheet);
  Headings headings = texts;
  if (layout.bars.height == 0) {
    const std::string names = fmt::format("{}", fmt::join(names_of(chart.groups.front()), ", "));
    headings.x += " = " + names;
    figure.remarks = {fmt::format("bars are too narrow for names: from left to right {}", names)};
    layout = layout_of(chart, headings, request, figure.sheet);
  }
  constexpr double kAbove = 1.12;
  const Axis up =
      axis_of("y", false, {0, chart.highest() * y.scale * (noted ? kAbove : 1), 0}, figure.sheet);
  const double down = layout.bars.height + layout.groups.height;
  figure.csv = csv_of(chart, grouped);
  figure.script =
      heading(headings, request, figure.sheet) + layout.frame.script() + up.script +
      fmt::format("unset xtics\nset xlabel offset screen 0,{:.4f}\nset xrange [{}:{}]\n",
                  -down / figure.sheet.height, layout.low, layout.high) +
      names_script(layout) + marks_script(layout, y.scale) + boxes(layout, y.scale);
  return figure;
}

}  // namespace tessera::plot
