#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/frame.h"
#include "sim/plot/script.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

struct Design {
  std::size_t front;  ///< index of its front: one per value of --by
  double x, y;
  std::string label;
  bool best = true;    ///< not dominated: no other is at least as good in both and better in one
  bool named = false;  ///< there is room for its label
};

void mark_front(std::vector<Design>& designs, bool more_x, bool more_y) {
  const auto worse = [](double a, double b, bool more) { return more ? a < b : a > b; };
  for (Design& each : designs) {
    each.best = std::ranges::none_of(designs, [&](const Design& other) {
      const bool nowhere_worse = !worse(other.x, each.x, more_x) && !worse(other.y, each.y, more_y);
      return other.front == each.front && nowhere_worse &&
             (worse(each.x, other.x, more_x) || worse(each.y, other.y, more_y));
    });
  }
}

/// Reserves the steps of each front, as gnuplot draws them.
void add_stairs(const std::vector<Design>& designs, const std::vector<Spot>& spots, bool more_x,
                Labels& labels) {
  const Spot* before = nullptr;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    if (i > 0 && designs[i].front != designs[i - 1].front) before = nullptr;
    if (!designs[i].best) continue;
    const Spot& now = spots[i];
    if (before != nullptr) {
      const Spot corner = more_x ? Spot{before->x, now.y} : Spot{now.x, before->y};
      labels.add_line(*before, corner);
      labels.add_line(corner, now);
    }
    before = &now;
  }
}

/// Labels the best designs that have room for it; returns gnuplot's commands.
std::string name_best(std::vector<Design>& designs, const Frame& frame, const Axis& x,
                      const Axis& y, const Quantity& in_x, const Quantity& in_y, bool more_x) {
  Labels labels(frame);
  std::vector<Spot> spots;
  for (const Design& each : designs) {
    spots.push_back(frame.spot(x, each.x * in_x.scale, y, each.y * in_y.scale));
    labels.keep_free(spots.back());
  }
  add_stairs(designs, spots, more_x, labels);
  std::string script;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    const auto box = designs[i].best && !designs[i].label.empty()
                         ? labels.put(designs[i].label, spots[i])
                         : std::nullopt;
    designs[i].named = box.has_value();
    if (box) script += labels.script(designs[i].label, *box);
  }
  return script;
}

/// A short label: the run's values of the axes.
std::string label_of(const Row& row, const std::vector<std::string>& by) {
  std::string label;
  for (const std::string& path : by)
    if (!text(row, path).empty()) label += (label.empty() ? "" : ", ") + named_value(row, path);
  return label;
}

/// The axes that distinguish the designs of one front.
std::vector<std::string> naming_axes(const Rows& rows, const std::vector<std::string>& by) {
  std::vector<std::string> paths = varying(rows);
  std::erase_if(paths, [&](const std::string& path) { return contains(by, path); });
  return paths;
}

std::vector<Design> designs_of(const Rows& rows, const Request& request,
                               const std::vector<std::string>& fronts) {
  std::vector<Design> designs;
  const std::vector<std::string> named = naming_axes(rows, request.by);
  for (const Row& row : rows.rows) {
    const auto x = number(row, request.x), y = number(row, request.y.front());
    const auto front = std::ranges::find(fronts, series_label(row, request.by));
    if (x && y)
      designs.push_back(
          {static_cast<std::size_t>(front - fronts.begin()), *x, *y, label_of(row, named)});
  }
  std::ranges::sort(designs, [](const Design& a, const Design& b) {
    return std::tie(a.front, a.x, a.y, a.label) < std::tie(b.front, b.x, b.y, b.label);
  });
  return designs;
}

std::string csv_of(const std::vector<Design>& designs, const Request& request,
                   const std::vector<std::string>& fronts) {
  std::string csv =
      fmt::format("{},{},best,named,run{}\n", sweep::csv_cell(request.x),
                  sweep::csv_cell(request.y.front()), request.by.empty() ? "" : ",front,by");
  for (const Design& each : designs) {
    csv += fmt::format("{},{},{},{},{}", each.x, each.y, each.best ? 1 : 0, each.named ? 1 : 0,
                       sweep::csv_cell(each.label));
    if (!request.by.empty())
      csv += fmt::format(",{},{}", each.front, sweep::csv_cell(fronts[each.front]));
    csv += "\n";
  }
  return csv;
}

/// All runs in grey, the front as steps.
std::string front_script(const Quantity& x, const Quantity& y, bool more_x) {
  return fmt::format(
      "plot data using ($1*{0}):($2*{1}) with points pt 7 ps 0.6 lc rgb '#aaaaaa' title "
      "'runs', \\\n"
      "  data using ($3==1?$1*{0}:NaN):($2*{1}) with {2} lw 2 lc rgb '{3}' notitle, \\\n"
      "  data using ($3==1?$1*{0}:NaN):($2*{1}) with points pt 7 ps 1 lc rgb '{3}' title "
      "'best'\n",
      x.scale, y.scale, more_x ? "fsteps" : "steps", colour(1));
}

/// One colour and mark per front, as steps; small marks are dominated runs.
std::string fronts_script(const Quantity& x, const Quantity& y, bool more_x,
                          const std::vector<std::string>& fronts) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < fronts.size(); ++i) {
    const std::string own = fmt::format("$6=={}", i);
    parts.push_back(
        fmt::format("  data using ({}&&$3==0?$1*{}:NaN):($2*{}) with points {} ps 0.35 "
                    "notitle",
                    own, x.scale, y.scale, mark_style(i)));
    const std::string best = fmt::format("({}&&$3==1?$1*{}:NaN):($2*{})", own, x.scale, y.scale);
    parts.push_back(fmt::format("  data using {} with {} lw 1.5 lc rgb '{}' notitle", best,
                                more_x ? "fsteps" : "steps", colour(i)));
    parts.push_back(fmt::format("  data using {} with points {} ps 0.9 title {}", best,
                                mark_style(i), literal(fronts[i])));
  }
  return fmt::format("plot \\\n{}\n", fmt::join(parts, ", \\\n"));
}

/// A remark if runs of different problems compete.
std::vector<std::string> remarks_on(const Rows& rows, const Request& request) {
  std::vector<std::string> mixed;
  for (const std::string& path : naming_axes(rows, request.by)) {
    const bool problem = path.starts_with("workload.") && !path.starts_with("workload.plan") &&
                         path != "workload.seed";
    const bool told = std::ranges::any_of(
        request.by, [&](const auto& each) { return follows(rows, path, each); });
    if (problem && !told) mixed.push_back(path);
  }
  if (mixed.empty()) return {};
  std::vector<std::string> all = request.by;
  all.insert(all.end(), mixed.begin(), mixed.end());
  return {fmt::format(
      "pareto: different problems compete in one front ({} var{}): {} draws a front for each, "
      "--where chooses one",
      fmt::join(mixed, ", "), mixed.size() == 1 ? "ies" : "y",
      fmt::format("--by {}", fmt::join(all, " --by ")))};
}

}  // namespace

/// Draws two quantities of each run, and the Pareto front: one front for each value of --by.
Figure pareto(const Source& source, const Request& given) {
  Request request = given;
  if (request.x.empty()) request.x = "memory.max_tile_bytes";
  if (request.y.empty()) request.y = {"time.cycles"};
  require_path(source.rows, request.x, "--x", true);
  require_path(source.rows, request.y.front(), "--y", true);
  require_paths(source.rows, request.by, "--by", false);
  const std::vector<std::string> fronts = series_labels(source.rows, request.by);
  std::vector<Design> designs = designs_of(source.rows, request, fronts);
  if (designs.empty()) throw UserError(source.rows.origin + ": no run has both quantities");
  const bool more_x = more_is_better(request.x), more_y = more_is_better(request.y.front());
  mark_front(designs, more_x, more_y);
  const Extent in_x = extent_of(mapped(designs, &Design::x));
  const Extent in_y = extent_of(mapped(designs, &Design::y));
  const Quantity x = quantity_of(request.x, in_x.most),
                 y = quantity_of(request.y.front(), in_y.most);
  const auto direction = [](bool more) { return more ? ", more is better" : ", less is better"; };
  Figure figure;
  figure.sheet = sheet_of(request, 0.6);
  constexpr double kWide = 20;
  const Axis across =
      axis_of("x", wants_log(request, 'x', in_x.is_wide(kWide)), in_x.times(x.scale), figure.sheet);
  const Axis up =
      axis_of("y", wants_log(request, 'y', in_y.is_wide(kWide)), in_y.times(y.scale), figure.sheet);
  const Headings texts{title_of(source.rows, request), x.title() + direction(more_x),
                       y.title() + direction(more_y),
                       request.by.size() == 1 ? quantity_of(request.by.front(), 0).title() : ""};
  const bool several = !request.by.empty();
  const Frame frame = several ? Frame::with_key(texts, request, figure.sheet, fronts)
                              : Frame::around(texts, request, figure.sheet, 0, 1.2);
  const std::string names = name_best(designs, frame, across, up, x, y, more_x);
  figure.csv = csv_of(designs, request, fronts);
  figure.remarks = remarks_on(source.rows, request);
  figure.script = heading(texts, request, figure.sheet) + frame.script() +
                  (several ? "" : "set key tmargin right horizontal\n") + across.script +
                  up.script + names +
                  (several ? fronts_script(x, y, more_x, fronts) : front_script(x, y, more_x));
  return figure;
}

}  // namespace tessera::plot
