#include "sim/command/plot.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/ranges.h"
#include "sim/command/commands.h"
#include "sim/config/nearest.h"
#include "sim/plot/gnuplot.h"
#include "sim/plot/quantity.h"
#include "sim/plot/rows.h"
#include "sim/plot/script.h"
#include "sim/sensitivity/result.h"

namespace tessera::command {
namespace {

/// The folder of a table or trace; a folder itself.
std::filesystem::path folder_of(const std::string& origin) {
  const std::filesystem::path path(origin);
  return origin.ends_with(".csv") || trace::is_trace(origin) ? path.parent_path() : path;
}

[[noreturn]] void refuse(const std::string& option, const std::string& found,
                         std::span<const std::string_view> allowed) {
  throw UserError("tessera plot: {}: found {}, allowed {}", option, found,
                  config::names_near(found, allowed));
}

std::vector<std::string> kind_names() {
  return mapped(plot::kinds(), [](const plot::Kind& kind) { return std::string(kind.name); });
}

const plot::Kind& kind_named(const std::string& name) {
  for (const plot::Kind& kind : plot::kinds()) {
    if (kind.name == name) return kind;
  }
  const std::vector<std::string> names = kind_names();
  refuse("--kind", name, config::views(names));
}

/// The requested kind, or the folder's default; null if that depends on its runs.
const plot::Kind* kind_of(const PlotRequest& request) {
  if (!request.kind.empty()) return &kind_named(request.kind);
  const bool one = request.folders.size() == 1;
  const std::string& folder = request.folders.front();
  if (one && trace::is_trace(folder)) return &kind_named("timeline");
  if (one && plot::is_run_folder(folder)) return &kind_named("timeline");
  const bool runs = std::ranges::all_of(request.folders, plot::is_run_folder);
  if (runs && request.figure.x.empty()) return &kind_named("comparison");
  return one && sensitivity::is_stored(folder) ? &kind_named("tornado") : nullptr;
}

constexpr std::array<std::string_view, 3> kFormats = {"svg", "pdf", "png"};

/// Divides --out figs/a.png into its folder, the figure's name and its format.
void divide_out(PlotRequest& request) {
  const std::filesystem::path out(request.out);
  const std::string ending = out.extension().string();
  if (ending.empty() || !contains(kFormats, ending.substr(1))) return;
  if (!request.name.empty() || !request.formats.empty())
    throw UserError("tessera plot: --out: found {}, allowed a folder with --name or --format",
                    request.out);
  request.name = out.stem().string();
  request.formats = {ending.substr(1)};
  request.out = out.has_parent_path() ? out.parent_path().string() : ".";
}

std::vector<std::string> formats_of(const PlotRequest& request) {
  for (const std::string& format : request.formats) {
    if (!contains(kFormats, format)) {
      refuse("--format", format, kFormats);
    }
  }
  if (!request.formats.empty()) return request.formats;
  return {kFormats.begin(), kFormats.end()};
}

/// Requires "none" or letters of axes that can be logarithmic.
void require_log(const std::string& log, const plot::Kind& kind) {
  const std::string_view axes = kind.logs;
  if (log.empty() || (log == plot::kNoLog && !axes.empty())) return;
  const bool known = std::ranges::all_of(
      log, [&](char axis) { return axes.find(axis) != std::string_view::npos; });
  if (known) return;
  if (axes.empty())
    throw UserError("tessera plot: --log: found {}, but the axes of {} cannot be chosen", log,
                    kind.name);
  throw UserError("tessera plot: --log: found {}, allowed for {}: {}, or some of {}", log,
                  kind.name, plot::kNoLog, axes);
}

plot::Sheet sheet_of(const PlotRequest& request) {
  plot::Sheet sheet = request.figure.sheet;
  if (!request.width.empty()) sheet.width = plot::inches_of(request.width, "--width");
  if (!request.height.empty()) sheet.height = plot::inches_of(request.height, "--height");
  if (!request.size.empty()) sheet.size = plot::points_of(request.size, "--size");
  const bool plain = std::ranges::none_of(sheet.font, [](unsigned char c) {
    return std::iscntrl(c) != 0 || c == ',' || c == '\'' || c == '"';
  });
  if (sheet.font.empty() || !plain)
    throw UserError(
        "tessera plot: --font: found {}, allowed the name of a family, for "
        "example Helvetica",
        sheet.font);
  return sheet;
}

bool asks_for_trace(const plot::Request& figure) {
  return !figure.tiles.empty() || !figure.from.empty() || !figure.to.empty();
}

/// The trace to draw: the given one, or a run folder's if the kind or an option needs one. Empty if
/// none. Throws UserError.
std::string trace_of(const PlotRequest& request, const plot::Kind* kind) {
  const bool needed = kind != nullptr && kind->needs == plot::Needs::trace;
  const bool can = needed || (kind != nullptr && kind->needs == plot::Needs::run_or_trace);
  const auto given = std::ranges::find_if(request.folders, trace::is_trace);
  std::string found = given == request.folders.end() ? "" : *given;
  if (!can && (!found.empty() || asks_for_trace(request.figure)))
    throw UserError(
        "tessera plot: {}: found {}, allowed for traces: timeline, utilisation, traffic, matrix",
        found.empty() ? "--tiles, --from, --to" : found, kind == nullptr ? "no kind" : kind->name);
  if (found.empty() && !needed && !asks_for_trace(request.figure)) return "";
  if (request.folders.size() != 1)
    throw UserError("tessera plot: {}: found {}, allowed one trace", kind->name,
                    fmt::join(request.folders, ", "));
  if (!found.empty()) return found;
  const std::filesystem::path folder(request.folders.front());
  for (const char* name : {"trace.pftrace", "trace.vcd"})
    if (std::filesystem::exists(folder / name)) return (folder / name).string();
  throw UserError(
      "tessera plot: {}: found no trace in {}, expected trace.pftrace or trace.vcd: tessera run "
      "--trace-tiles 0-15 writes them",
      kind->name, folder.string());
}

/// Refuses figure options that the kind does not read.
void require_read(const PlotRequest& request, const plot::Kind& kind, bool of_trace) {
  const plot::Request& figure = request.figure;
  const std::string_view options = of_trace ? "tiles from to" : kind.options;
  std::vector<std::string> read;
  for (std::size_t begin = 0; begin < options.size();) {
    const std::size_t end = std::min(options.find(' ', begin), options.size());
    read.push_back("--" + std::string(options.substr(begin, end - begin)));
    begin = end + 1;
  }
  const std::pair<const char*, std::string> given[] = {
      {"--x", figure.x},
      {"--y", fmt::format("{}", fmt::join(figure.y, ", "))},
      {"--by", fmt::format("{}", fmt::join(figure.by, ", "))},
      {"--where", fmt::format("{}", fmt::join(request.where, ", "))},
      {"--best", fmt::format("{}", fmt::join(figure.best, ", "))},
      {"--baseline", fmt::format("{}", fmt::join(figure.baseline, ", "))},
      {"--sample", figure.sample}};
  for (const auto& [option, found] : given)
    if (!found.empty() && !contains(read, std::string(option)))
      throw UserError(
          "tessera plot: {}: found {}, allowed for {}{}: {}", option, found, kind.name,
          of_trace ? " of a trace" : "",
          read.empty() ? "none of these options" : config::list_of(config::views(read)));
}

/// The trace gives its length; the report in its folder names the run.
plot::Figure figure_of_trace(const PlotRequest& request, const plot::Kind& kind) {
  const std::string& file = request.folders.front();
  const trace::Recording recording = trace::read_trace(file);
  const std::string beside = folder_of(file).string();
  plot::Source source;
  source.rows.origin = file;
  if (plot::is_run_folder(beside)) source.rows = plot::read_rows(std::array{beside});
  source.trace = &recording;
  plot::Figure figure = kind.draw(source, request.figure);
  for (const std::string& remark : recording.remarks) fmt::print("{}: {}\n", file, remark);
  if (!recording.timescale.empty()) fmt::print("{}: timescale {}\n", file, recording.timescale);
  return figure;
}

report::RunFolder only_run(const PlotRequest& request, const plot::Kind& kind) {
  if (request.folders.size() != 1 || !plot::is_run_folder(request.folders.front())) {
    throw UserError("tessera plot: {}: found {}, allowed the folder of one run", kind.name,
                    fmt::join(request.folders, ", "));
  }
  return report::read_run(request.folders.front());
}

/// Uses the predicted time if no run was simulated.
void choose_predicted_time(const plot::Rows& rows, const plot::Kind& kind, plot::Request& figure) {
  const std::string time = "time.cycles", predicted = "prediction.cycles";
  const auto have = [&](const std::string& path) {
    return std::ranges::any_of(
        rows.rows, [&](const plot::Row& row) { return plot::number(row, path).has_value(); });
  };
  const bool by_time = figure.y.empty() && kind.needs == plot::Needs::runs && kind.y == time;
  if (by_time && kind.name != "stacked" && !have(time) && have(predicted)) figure.y = {predicted};
}

/// Computes derived numbers of each run; of runs that differ only in --best's axes, keeps the best.
void prepare(plot::Rows& rows, const plot::Request& figure, const plot::Kind& kind) {
  const auto given = [&](const std::string& path, const char* option) {
    if (contains(figure.best, path)) {
      throw UserError("tessera plot: {}: found {}, allowed what --best is not over", option, path);
    }
    if (plot::is_derived(path)) plot::derive(rows, path, option);
  };
  given(figure.x, "--x");
  for (const std::string& path : figure.y) given(path, "--y");
  for (const std::string& path : figure.by) given(path, "--by");
  if (figure.best.empty()) return;
  if (figure.y.size() > 1)
    throw UserError("tessera plot: --best: found {}, allowed with one --y",
                    fmt::join(figure.best, ", "));
  rows = plot::best_over(rows, figure.best, figure.y.empty() ? kind.y : figure.y.front());
}

plot::Figure figure_of_sensitivity(const PlotRequest& request, const plot::Kind& kind) {
  const std::string& folder = request.folders.front();
  if (request.folders.size() != 1 || !sensitivity::is_stored(folder))
    throw UserError(
        "tessera plot: {}: found {}, allowed one folder that tessera sensitivity wrote into",
        kind.name, fmt::join(request.folders, ", "));
  const plot::Json stored = sensitivity::read(folder);
  return kind.draw({{folder, {}, {}}, nullptr, &stored}, request.figure);
}

/// Draws the figure from the sources that the kind needs. Throws UserError.
plot::Figure figure_of(const PlotRequest& request, const plot::Kind& kind, plot::Rows& rows) {
  if (kind.needs == plot::Needs::sensitivity) return figure_of_sensitivity(request, kind);
  if (trace::is_trace(request.folders.front())) return figure_of_trace(request, kind);
  prepare(rows, request.figure, kind);
  if (kind.needs == plot::Needs::runs) return kind.draw({rows}, request.figure);
  const report::RunFolder run = only_run(request, kind);
  return kind.draw({rows, &run}, request.figure);
}

}  // namespace

ExitCode plot(const PlotRequest& given) {
  PlotRequest request = given;
  divide_out(request);
  const std::vector<std::string> formats = formats_of(request);
  request.figure.sheet = sheet_of(given);
  if (request.name.find('/') != std::string::npos) {
    throw UserError("tessera plot: --name: found {}, allowed a name without /", request.name);
  }
  fmt::print(stderr, "{}", plot::shown_text(request.folders));
  const plot::Kind* kind = kind_of(request);
  const std::string trace = trace_of(request, kind);
  if (!trace.empty()) request.folders = {trace};
  plot::Rows rows;
  if (trace.empty() && (kind == nullptr || kind->needs != plot::Needs::sensitivity))
    rows = plot::read_rows(request.folders).where(request.where);
  if (kind == nullptr) kind = &kind_named(plot::is_scattered(rows) ? "scatter" : "lines");
  choose_predicted_time(rows, *kind, request.figure);
  require_log(request.figure.log, *kind);
  require_read(given, *kind, !trace.empty());
  const std::string name = request.name.empty() ? plot_name(request, kind->name) : request.name;
  const plot::Figure figure = figure_of(request, *kind, rows);
  plot::require_gnuplot();
  const std::string folder =
      request.out.empty() ? (folder_of(request.folders.back()) / "plots").string() : request.out;
  plot::draw(figure, folder, name, formats);
  const std::string base = (std::filesystem::path(folder) / name).string();
  for (const std::string& format : formats) fmt::print("{}.{}\n", base, format);
  fmt::print("{0}.csv\n{0}.gp\n", base);
  for (const std::string& remark : figure.remarks) fmt::print("{}\n", remark);
  if (!rows.left_out.empty()) fmt::print("left out: {}\n", plot::left_out_text(rows.left_out));
  return ExitCode::done;
}

Command plot_command() {
  const auto request = std::make_shared<PlotRequest>();
  plot::Request& figure = request->figure;
  const Option kind =
      choosing({"--kind", &request->kind,
                "lines, bars, stacked (parts of a section such as stalls), comparison (of runs), "
                "heatmap, scatter, parallel, speedup, pareto, roofline; for one run: timeline, "
                "matrix (traffic), tiles, training, stages (of layers), raster; for a trace: "
                "timeline, utilisation, traffic, matrix; for tessera sensitivity: tornado"},
               kind_names);
  return {
      "plot",
      "draw a figure of a sweep, of runs, or of a trace",
      {{"DIR", &request->folders,
        "folders of sweeps or runs, tables of tessera validate, or a trace (.pftrace, .vcd)",
        kRequired},
       kind,
       {"--x", &figure.x, "an axis, or a key of report.json or its config"},
       {"--y", &figure.y,
        "a report key such as rate.flops_per_second, or arithmetic such as 'time.cycles / "
        "workload.n' (default: time.cycles); the colour of a heatmap over --x and --by; may be "
        "repeated: --y published_speedup --y simulated_speedup"},
       {"--by", &figure.by,
        "key that separates lines, bars of a group or Pareto fronts (default: the other axes; "
        "fronts: nothing)"},
       {"--where", &request->where, "path=value: plot only these runs"},
       {"--best", &figure.best,
        "an axis: of runs that differ only in it, plot the one with the best y (the largest rate)"},
       {"--baseline", &figure.baseline,
        "path=value: baseline runs of speedup (default: the first x)"},
       {"--title", &figure.title, "title of the figure; '' for none"},
       {"--xlabel", &figure.xlabel, "label of the x axis"},
       {"--ylabel", &figure.ylabel, "label of the y axis"},
       {"--width", &request->width, "width of the figure: 3.3in, 84mm, 240pt (default: 7.6in)"},
       {"--height", &request->height, "height of the figure (default: depends on the kind)"},
       {"--font", &figure.sheet.font, "font family (default: sans)"},
       {"--size", &request->size, "font size in points (default: 9)"},
       {"--log", &figure.log,
        "logarithmic axes: none, or x, y and z (colours), for example xy (default: by the spacing "
        "of the values)"},
       {"--sample", &figure.sample, "raster: stream of the batch (default: 0)"},
       {"--tiles", &figure.tiles, "trace: tiles, for example 0-15,20 (default: all in the trace)"},
       {"--from", &figure.from, "trace: first cycle (default: 0)"},
       {"--to", &figure.to, "trace: end cycle (default: the end of the trace)"},
       {"--out", &request->out,
        "output folder, or file such as figs/a.png (default: plots in the last DIR)"},
       {"--name", &request->name,
        "name of the figure's files (default: from the kind and its options)"},
       {"--format", &request->formats, "formats: svg, pdf, png (default: all)", !kRequired, 0,
        ','}},
      [request] {
        return config::use_stored(fmt::format("{}", fmt::join(request->folders, ", ")),
                                  [&] { return plot(*request); });
      }};
}

}  // namespace tessera::command
