#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/script.h"
#include "sim/report/report.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

/// Index of a column of loss.csv, from 1; 0 if it is missing or has no numbers.
std::size_t column_of(const Json& results, const std::string& csv, const std::string& name) {
  const bool numbers =
      std::ranges::any_of(results.at(name), [](const Json& value) { return value.is_number(); });
  if (!numbers) return 0;
  const std::vector<std::string> columns = sweep::cells_of_line(csv.substr(0, csv.find('\n')));
  const std::size_t found = index_in(columns, name);
  return found == columns.size() ? 0 : found + 1;
}

/// Steps are whole numbers: a few have a mark each; a single one is centred.
std::string axis_of_steps(std::size_t steps) {
  constexpr std::size_t kFew = 10;
  return fmt::format("set xrange [{}:{}]\n{}", steps > 1 ? 1.0 : 0.5,
                     steps > 1 ? static_cast<double>(steps) : 1.5,
                     steps <= kFew ? "set xtics 1\n" : "");
}

}  // namespace

/// Draws the loss of each training step and, if counted, the share of correctly classified samples.
/// With many steps, marks only some.
Figure training(const Source& source, const Request& request) {
  const Json& report = source.run->report;
  Figure figure;
  figure.sheet = sheet_of(request, 0.6);
  if (report.contains("results")) figure.csv = report::loss_csv(report.at("results"));
  if (figure.csv.empty())
    throw UserError(source.run->folder +
                    "/report.json: found no results.loss, expected a run that trains");
  const Json& results = report.at("results");
  const std::size_t steps = results.at("loss").size();
  const std::size_t marked = std::max<std::size_t>(steps / 40, 1);  // distance of marked points
  const std::size_t loss = column_of(results, figure.csv, "loss");
  const std::size_t accuracy =
      results.contains("accuracy") ? column_of(results, figure.csv, "accuracy") : 0;
  if (loss == 0 && accuracy == 0)
    throw UserError(source.run->folder +
                    "/report.json: results.loss: found no number, expected a loss of some step");
  const auto curve = [&](std::size_t column, const char* axes, std::size_t series,
                         const char* name) {
    return fmt::format("  data using 1:{} axes {} with linespoints {} pi {} title '{}'", column,
                       axes, line_style(series), marked, name);
  };
  std::vector<std::string> curves;
  if (loss > 0) curves.push_back(curve(loss, "x1y1", 0, "loss"));
  if (accuracy > 0) curves.push_back(curve(accuracy, loss > 0 ? "x1y2" : "x1y1", 1, "accuracy"));
  constexpr const char* kAccuracy = "accuracy (share of a batch)";
  figure.script = heading({title_of(source.rows, request), "step",
                           loss > 0 ? "loss (mean of a batch)" : kAccuracy},
                          request, figure.sheet) +
                  axis_of_steps(steps) + (loss > 0 ? "set yrange [0:*]\n" : "set yrange [0:1]\n");
  if (loss > 0 && accuracy > 0)
    figure.script +=
        fmt::format("set border 11\nset y2label '{}'\nset y2range [0:1]\nset y2tics\n", kAccuracy);
  figure.script += fmt::format("plot \\\n{}\n", fmt::join(curves, ", \\\n"));
  return figure;
}

}  // namespace tessera::plot
