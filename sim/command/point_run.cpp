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

sweep::Result predict_point(const config::Config& config, const Forecast& forecast) {
  sweep::Result result{"predicted", "", seed_of(config.resolved), nullptr};
  try {
    const sensitivity::Answer answer = forecast(config);
    if (answer.error.empty()) {
      result.report = report::predicted_report(config, answer);
    } else {
      result.status = status_of(ExitCode::user_error);
      result.error = answer.error;
    }
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    result.status = status_of(failure.code);
    result.error = failure.message;
  }
  return result;
}

PointAnswer point_answer(sweep::Way way, const config::Config& first, const Simulator& simulator) {
  if (way == sweep::Way::simulated)
    return [&simulator](const config::Config& config) { return run_point(config, simulator); };
  Forecast known;
  try {
    known = simulator.forecast(first);
  } catch (const UserError&) {  // it has no plan, which its own answer says
    known = nullptr;
  }
  return [known, &simulator](const config::Config& config) {
    return predict_point(
        config, known ? known : [&](const config::Config& itself) {
          return simulator.forecast(itself)(itself);
        });
  };
}

}  // namespace tessera::command
