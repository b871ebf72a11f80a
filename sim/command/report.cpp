#include "sim/command/report.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "sim/base/leftovers.h"
#include "sim/base/whole_file.h"
#include "sim/report/analysis.h"
#include "sim/report/page.h"
#include "sim/report/units.h"

namespace tessera::command {
namespace {

std::string page_file(const ReportRequest& request) {
  if (!request.out.empty()) return request.out;
  const char* name = request.runs.size() == 1 ? "report.html" : "comparison.html";
  return (std::filesystem::path(request.runs.back()) / name).string();
}

}  // namespace

ExitCode report(const ReportRequest& request) {
  constexpr std::size_t kMostRuns = 2;
  if (request.runs.size() > kMostRuns) {
    throw UserError(fmt::format("tessera report: found {} runs, allowed 1, or 2 to compare",
                                request.runs.size()));
  }
  std::vector<report::RunFolder> runs;
  for (const std::string& folder : request.runs) runs.push_back(report::read_run(folder));
  if (request.top) {
    for (const report::RunFolder& run : runs) {
      fmt::print("{}{}", &run == runs.data() ? "" : "\n", report::top(run, report::analyse(run)));
    }
    return ExitCode::done;
  }
  const std::string file = page_file(request);
  const std::string page = report::page(runs);
  remove_leftovers(std::filesystem::absolute(file).parent_path());
  write_whole(file, page);
  fmt::print("{}  {}\n", file, report::scaled(static_cast<double>(page.size()), "B"));
  return ExitCode::done;
}

Command report_command() {
  const auto request = std::make_shared<ReportRequest>();
  return {"report",
          "an HTML page of one finished run, or of two compared",
          {{"RUN", &request->runs, "a folder of results; two are compared", kRequired},
           {"--out", &request->out, "the page (default: report.html in the run's folder)"},
           {"--top", &request->top, "print where the time went; write no page"}},
          [request] { return report(*request); }};
}

}  // namespace tessera::command
