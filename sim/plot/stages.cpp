#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/quantity.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

/// The parts of a stage's cycles: computing and kinds of streams; the largest one binds.
struct Parts {
  std::vector<std::string> names{"compute"};

  explicit Parts(const Json& stages) {
    for (const auto& [stage, facts] : stages.items())
      for (const auto& [stream, carried] : facts.at("streams").items())
        if (!contains(names, stream)) names.push_back(stream);
  }
  [[nodiscard]] static double cycles(const Json& stage, const std::string& name) {
    if (name == "compute") return stage.at("compute_cycles").get<double>();
    const Json& streams = stage.at("streams");
    return streams.contains(name) ? streams.at(name).at("cycles").get<double>() : 0;
  }
  [[nodiscard]] std::size_t binding(const Json& stage) const {
    const auto most = std::ranges::max_element(
        names, {}, [&](const std::string& name) { return cycles(stage, name); });
    return static_cast<std::size_t>(most - names.begin());
  }
};

/// Columns: stage, cycles, waiting, index of the binding part, then each part.
std::string csv_of(const Json& stages, const Parts& parts) {
  std::string csv = fmt::format("stage,cycles,wait_cycles,binds,{}\n", fmt::join(parts.names, ","));
  for (const auto& [name, stage] : stages.items()) {
    csv += fmt::format("{},{},{},{}", name, stage.at("cycles").get<double>(),
                       stage.at("wait_cycles").get<double>(), parts.binding(stage));
    for (const std::string& part : parts.names)
      csv += fmt::format(",{}", Parts::cycles(stage, part));
    csv += '\n';
  }
  return csv;
}

/// The bars of the stages by binding part, and of all remaining cycles.
std::string bars_of(const Parts& parts, const std::vector<std::size_t>& used) {
  constexpr const char* kBox =
      "  data using (1):0:({0}):({1}):($0-0.4):($0+0.4) with boxxyerror {2} title {3}";
  std::vector<std::string> bars;
  std::string bound = "0";  // of the stage's binding part
  for (const std::size_t part : used) {
    const std::size_t column = 5 + part;
    const std::string mine = fmt::format("$4=={} ? (${}<$2 ? ${} : $2)", part, column, column);
    bound = fmt::format("({} : {})", mine, bound);
    bars.push_back(fmt::format(fmt::runtime(kBox), "0", mine + " : NaN", fill_style(part),
                               literal(fmt::format("{} binds", parts.names[part]))));
  }
  bars.push_back(fmt::format(
      fmt::runtime(kBox), bound, "$2",
      fmt::format("lc rgb '{}' fs solid 1 noborder", look_of_part("time.sync_cycles").colour),
      literal("beyond it")));
  return fmt::format("plot \\\n{}\n", fmt::join(bars, ", \\\n"));
}

}  // namespace

/// Draws one bar per stage of a run: the cycles of its binding part (computing or a kind of
/// stream), and the cycles beyond.
Figure stages(const Source& source, const Request& request) {
  constexpr double kRest = 8;  // lines around the bars
  const Json& report = source.run->report;
  if (!report.contains("stages"))
    throw UserError(source.run->folder +
                    "/report.json: found no stages, expected a run on a machine whose fabric is "
                    "streams, or of a program that says its stages");
  const Json& stages = report.at("stages");
  const Parts parts(stages);
  Figure figure;
  Sheet& sheet = figure.sheet = request.sheet;
  std::vector<std::string> names, marks;
  std::vector<std::size_t> used;
  double longest = 0;
  for (const auto& [name, stage] : stages.items()) {
    marks.push_back(fmt::format("{} {}", literal(name), names.size()));
    names.push_back(name);
    const double cycles = stage.at("cycles").get<double>();
    longest = std::max(longest, cycles);
    if (cycles > 0 && !contains(used, parts.binding(stage))) used.push_back(parts.binding(stage));
  }
  std::ranges::sort(used);
  if (sheet.height == 0)
    sheet.height = sheet.line() * (kRest + 1.1 * static_cast<double>(names.size()));
  figure.csv = csv_of(stages, parts);
  figure.script =
      heading({title_of(source.rows, request), "cycles", ""}, request, sheet) +
      fmt::format(
          "set lmargin at screen {:.4f}\nset ytics scale 0 ({})\nset yrange [{}:-0.6]\n"
          "{}set grid x noy lc rgb '#dddddd' lt 1 lw 0.7\nset key tmargin right horizontal\n",
          (1.05 * sheet.widest(names) + 2 * sheet.letter()) / sheet.width, fmt::join(marks, ", "),
          static_cast<double>(names.size()) - 0.4, linear_axis("x", longest, sheet).script) +
      bars_of(parts, used);
  return figure;
}

}  // namespace tessera::plot
