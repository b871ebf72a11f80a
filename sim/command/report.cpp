#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/leftovers.h"
#include "sim/base/ranges.h"
#include "sim/base/whole_file.h"
#include "sim/command/commands.h"
#include "sim/command/glossary.h"
#include "sim/plot/rows.h"
#include "sim/plot/sweep_page.h"
#include "sim/report/analysis.h"
#include "sim/report/page.h"
#include "sim/report/units.h"

namespace tessera::command {
namespace {

/// The arguments of `tessera report`.
struct ReportRequest {
  std::vector<std::string> runs;  ///< folders: one, or several to compare
  std::string out;                ///< the page's file; empty: in the last run's folder
  bool top = false;
};

ExitCode write_page(const std::string& file, const std::string& page) {
  remove_leftovers(std::filesystem::absolute(file).parent_path());
  write_whole(file, page);
  fmt::print("{}  {}\n", file, report::scaled(static_cast<double>(page.size()), "B"));
  return ExitCode::done;
}

std::string page_file(const ReportRequest& request) {
  if (!request.out.empty()) return request.out;
  const char* name = request.runs.size() == 1 ? "report.html" : "comparison.html";
  return (std::filesystem::path(request.runs.back()) / name).string();
}

ExitCode report_sweep(const ReportRequest& request) {
  if (request.top)
    throw UserError("tessera report: --top: found the sweep {}, allowed runs",
                    request.runs.front());
  return write_page(page_file(request),
                    report::page({{"sweep", plot::sweep_data(request.runs.front())}}));
}

/// Prints the time of each run by part; for several runs, the differences of cycles and configs.
void print_top(const std::vector<std::string>& folders,
               const std::vector<report::RunFolder>& runs) {
  const std::vector<report::Analysis> analyses = mapped(runs, report::analyse);
  for (std::size_t i = 0; i < runs.size(); ++i)
    fmt::print("{}{}", i == 0 ? "" : "\n", report::top(runs[i], analyses[i]));
  if (runs.size() == 1) return;
  fmt::print("{}", report::differences(analyses));
  const plot::Rows rows = plot::read_rows(folders);
  for (const std::string& axis : rows.axes)
    fmt::print(
        "  {}: {}\n", axis,
        fmt::join(mapped(rows.rows, [&](const plot::Row& row) { return plot::text(row, axis); }),
                  ", "));
}

/// Writes the HTML page of the runs; with `top`, prints their time by part instead.
ExitCode report(const ReportRequest& request, const Simulator& simulator) {
  fmt::print(stderr, "{}", plot::shown_text(request.runs));
  if (request.runs.size() == 1 && plot::is_sweep_folder(request.runs.front()))
    return report_sweep(request);
  for (const std::string& folder : request.runs)
    if (plot::is_sweep_folder(folder))
      throw UserError("tessera report: found the sweep {} beside others, allowed it alone, or runs",
                      folder);
  for (const std::string& folder : request.runs)
    if (std::filesystem::is_directory(folder) && !plot::is_run_folder(folder))
      plot::refuse_folder(folder);
  const std::vector<report::RunFolder> runs = mapped(request.runs, report::read_run);
  if (request.top) {
    print_top(request.runs, runs);
    return ExitCode::done;
  }
  const std::vector<std::string> kernels = mapped(runs, [](const report::RunFolder& run) {
    return run.report.at("config").at("workload").at("kernel").get<std::string>();
  });
  const std::string file = page_file(request);
  return write_page(file, report::page(runs, Glossary(simulator.catalogue).titles(kernels)));
}

}  // namespace

Command report_command(const Simulator& simulator) {
  const auto request = std::make_shared<ReportRequest>();
  return {
      "report",
      "write an HTML page of one finished run, of several compared, or of a sweep",
      {{"RUN", &request->runs, "folders of results (several: compared), or of a sweep", kRequired},
       {"--out", &request->out, "output file (default: report.html in the run's folder)"},
       {"--top", &request->top, "print the breakdown of time; write no page"}},
      [request, &simulator] {
        return config::use_stored(fmt::format("{}", fmt::join(request->runs, ", ")),
                                  [&] { return report(*request, simulator); });
      }};
}

}  // namespace tessera::command
