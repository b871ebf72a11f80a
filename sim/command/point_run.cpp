#include "sim/command/point_run.h"

#include <fmt/format.h>

#include "sim/base/host_limit.h"

namespace tessera::command {
namespace {

std::string status_of(ExitCode code) {
  if (code == ExitCode::user_error) return "failed";
  if (code == ExitCode::host_limit) return "starved";
  return code == ExitCode::no_progress ? "stuck" : "defect";
}

}  // namespace

config::Json seed_of(const config::Json& resolved) {
  const config::Json& workload = resolved.at("workload");
  return workload.contains("seed") ? workload.at("seed") : resolved.at("run").at("seed");
}

sweep::Result run_point(const config::Config& config, const Simulator& simulator) {
  sweep::Result result{"done", "", seed_of(config.resolved), nullptr};
  try {
    const report::Built built = simulator.build(config);
    const report::Outcome outcome = simulator.run(config, built, {});
    report::Report report = report::make_report(config, built, outcome);
    if (!report.passed()) {
      result.status = "wrong";
      result.error = "the result is wrong: " + outcome.check.problem;
    }
    result.report = std::move(report.json);
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    result.status = status_of(failure.code);
    result.error = failure.message;
  }
  return result;
}

}  // namespace tessera::command
