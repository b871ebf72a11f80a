#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/plot/script.h"
#include "sim/report/report.h"

namespace tessera::plot {

/// The loss of each step of a training, and the share of samples told right. Of many steps, means
/// of neighbours are drawn too, as batches scatter.
Figure training(const Source& source, const Request& request) {
  const Json& report = source.run->report;
  Figure figure;
  figure.sheet = sheet_of(request, 0.6);
  if (report.contains("results")) figure.csv = report::loss_csv(report.at("results"));
  if (figure.csv.empty())
    throw UserError(source.run->folder +
                    "/report.json: found no results.loss, expected a run that trains");
  const std::size_t steps = report.at("results").at("loss").size();
  const std::size_t marked = std::max<std::size_t>(steps / 40, 1);  // of so many points one
  figure.script =
      heading({title_of(source.rows, request), "step", "loss (mean of a batch)"}, request,
              figure.sheet) +
      fmt::format(
          "set border 11\nset xrange [1:{}]\nset yrange [0:*]\n"
          "set y2label 'accuracy (share of a batch)'\nset y2range [0:1]\nset y2tics\n"
          "plot data using 1:2 axes x1y1 with linespoints {} pi {} title 'loss', \\\n"
          "  data using 1:3 axes x1y2 with linespoints {} pi {} title 'accuracy'\n",
          std::max<std::size_t>(steps, 2), line_style(0), marked, line_style(1), marked);
  return figure;
}

}  // namespace tessera::plot
