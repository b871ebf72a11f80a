#include "sim/command/plot.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/counted.h"
#include "sim/config/nearest.h"
#include "sim/plot/best.h"
#include "sim/plot/derived.h"
#include "sim/plot/gnuplot.h"
#include "sim/sensitivity/stored.h"

namespace tessera::command {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& found,
                         std::span<const std::string_view> allowed) {
  throw UserError(fmt::format("tessera plot: {}: found {}, allowed {}{}", option, found,
                              config::list_of(allowed), config::did_you_mean(found, allowed)));
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const plot::Kind& kind : plot::kinds()) names.emplace_back(kind.name);
  return names;
}

const plot::Kind& kind_named(const std::string& name) {
  for (const plot::Kind& kind : plot::kinds()) {
    if (kind.name == name) return kind;
  }
  const std::vector<std::string> names = kind_names();
  refuse("--kind", name, config::views(names));
}

const plot::Kind& kind_of(const PlotRequest& request) {
  if (!request.kind.empty()) return kind_named(request.kind);
  if (request.folders.size() > 1) return kind_named("lines");
  const std::string& folder = request.folders.front();
  if (plot::is_run_folder(folder)) return kind_named("timeline");
  return kind_named(sensitivity::is_stored(folder) ? "tornado" : "lines");
}

std::vector<std::string> formats_of(const PlotRequest& request) {
  constexpr std::array<std::string_view, 3> kFormats = {"svg", "pdf", "png"};
  for (const std::string& format : request.formats) {
    if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end()) {
      refuse("--format", format, kFormats);
    }
  }
  if (!request.formats.empty()) return request.formats;
  return {kFormats.begin(), kFormats.end()};
}

void require_log(const std::string& log) {
  constexpr std::array<std::string_view, 4> kLogs = {"none", "x", "y", "xy"};
  if (!log.empty() && std::find(kLogs.begin(), kLogs.end(), log) == kLogs.end()) {
    refuse("--log", log, kLogs);
  }
}

report::RunFolder only_run(const PlotRequest& request, const plot::Kind& kind) {
  if (request.folders.size() != 1 || !plot::is_run_folder(request.folders.front())) {
    throw UserError(fmt::format("tessera plot: {}: found {}, allowed the folder of one run",
                                kind.name, fmt::join(request.folders, ", ")));
  }
  return report::read_run(request.folders.front());
}

/// Each run gets what is computed of its numbers; of those that differ only in the axes of --best
/// the best one stays.
void prepare(plot::Rows& rows, const plot::Request& figure, const plot::Kind& kind) {
  const auto given = [&](const std::string& path, const char* option) {
    if (std::find(figure.best.begin(), figure.best.end(), path) != figure.best.end()) {
      throw UserError(
          fmt::format("tessera plot: {}: found {}, allowed what --best is not over", option, path));
    }
    if (plot::is_derived(path)) plot::derive(rows, path, option);
  };
  given(figure.x, "--x");
  for (const std::string& path : figure.y) given(path, "--y");
  for (const std::string& path : figure.by) given(path, "--by");
  if (figure.best.empty()) return;
  if (kind.needs != plot::Needs::runs || figure.y.size() > 1) {
    throw UserError(
        fmt::format("tessera plot: --best: found {}, allowed figures of several runs "
                    "and one --y",
                    fmt::join(figure.best, ", ")));
  }
  rows = plot::best_over(rows, figure.best, figure.y.empty() ? kind.y : figure.y.front());
}

plot::Figure figure_of_sensitivity(const PlotRequest& request, const plot::Kind& kind) {
  const std::string& folder = request.folders.front();
  if (request.folders.size() != 1 || !sensitivity::is_stored(folder))
    throw UserError(fmt::format(
        "tessera plot: {}: found {}, allowed one folder that tessera sensitivity wrote into",
        kind.name, fmt::join(request.folders, ", ")));
  const plot::Json stored = sensitivity::read(folder);
  return kind.draw({{folder, {}, {}, 0}, nullptr, &stored}, request.figure);
}

/// Draws what the kind needs. Throws UserError. Counts what is left out.
plot::Figure figure_of(const PlotRequest& request, const plot::Kind& kind, std::size_t& left_out) {
  if (kind.needs == plot::Needs::sensitivity) return figure_of_sensitivity(request, kind);
  plot::Rows rows = plot::read_rows(request.folders).where(request.where);
  left_out = rows.left_out;
  prepare(rows, request.figure, kind);
  if (kind.needs == plot::Needs::runs) return kind.draw({rows}, request.figure);
  const report::RunFolder run = only_run(request, kind);
  return kind.draw({rows, &run}, request.figure);
}

}  // namespace

ExitCode plot(const PlotRequest& request) {
  const plot::Kind& kind = kind_of(request);
  const std::vector<std::string> formats = formats_of(request);
  require_log(request.figure.log);
  const std::string name = request.name.empty() ? std::string(kind.name) : request.name;
  if (name.find('/') != std::string::npos) {
    throw UserError(fmt::format("tessera plot: --name: found {}, allowed a name without /", name));
  }
  std::size_t left_out = 0;
  const plot::Figure figure = figure_of(request, kind, left_out);
  plot::require_gnuplot();
  const std::string folder =
      request.out.empty() ? (std::filesystem::path(request.folders.back()) / "plots").string()
                          : request.out;
  plot::draw(figure, folder, name, formats);
  const std::string base = (std::filesystem::path(folder) / name).string();
  for (const std::string& format : formats) fmt::print("{}.{}\n", base, format);
  fmt::print("{0}.csv\n{0}.gp\n", base);
  if (left_out > 0) {
    fmt::print("left out: {} without a correct result\n", counted(left_out, "point"));
  }
  return ExitCode::done;
}

Command plot_command() {
  const auto request = std::make_shared<PlotRequest>();
  plot::Request& figure = request->figure;
  const Option kind = choosing(
      {"--kind", &request->kind,
       "lines, bars, stacked (parts of a section such as stalls), heatmap, speedup, pareto, "
       "roofline; of one run: timeline, tiles; of tessera sensitivity: tornado"},
      kind_names);
  return {"plot",
          "a figure of a sweep, or of runs",
          {{"DIR", &request->folders, "folders of sweeps or runs", kRequired},
           kind,
           {"--x", &figure.x, "an axis, or a key of report.json or its config"},
           {"--y", &figure.y,
            "a key such as rate.flops_per_second, or arithmetic such as 'time.cycles / workload.n' "
            "(default: time.cycles)"},
           {"--by", &figure.by, "what tells lines apart (default: the other axes)"},
           {"--where", &request->where, "path=value: only these runs"},
           {"--best", &figure.best,
            "an axis: of runs that differ only there, the one with the best y (largest of a rate)"},
           {"--baseline", &figure.baseline, "path=value: the runs that speedup compares with"},
           {"--title", &figure.title, "above the figure"},
           {"--log", &figure.log, "none, x, y or xy (default: as the numbers are spaced)"},
           {"--out", &request->out, "folder of the figure (default: plots in the last DIR)"},
           {"--name", &request->name, "of the figure's files (default: the kind)"},
           {"--format", &request->formats, "svg, pdf, png (default: all)", !kRequired, 0, ','}},
          [request] { return plot(*request); }};
}

}  // namespace tessera::command
