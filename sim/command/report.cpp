#include "sim/command/report.h"

#include <cstdio>

#include <fmt/format.h>

#include "sim/report/analysis.h"

namespace tessera::command {

ExitCode report(const ReportRequest& request) {
  constexpr std::size_t kMostRuns = 2;
  if (request.runs.size() > kMostRuns) {
    throw UserError(fmt::format("tessera report: found {} runs, allowed 1, or 2 to compare",
                                request.runs.size()));
  }
  std::vector<report::RunFolder> runs;
  for (const std::string& folder : request.runs) runs.push_back(report::read_run(folder));
  for (const report::RunFolder& run : runs) {
    fmt::print("{}{}", &run == runs.data() ? "" : "\n", report::top(run, report::analyse(run)));
  }
  return ExitCode::done;
}

}  // namespace tessera::command
