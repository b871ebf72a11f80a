#include "sim/command/sweep_summary.h"

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/report/unused.h"

namespace tessera::command {

void SweepSummary::add(const std::optional<sweep::Result>& result,
                       const std::function<std::string()>& name) {
  Group& group = groups_[result ? result->status : ""];
  if (result && result->report.contains("unused")) add_unused(result->report);
  if (result && result->report.contains("timing")) {
    const config::Json& timing = result->report["timing"];
    const bool in_full = timing.at("values").get<bool>();
    ++(in_full ? in_full_ : timed_);
    if (!in_full && timing.value("computed_too", false)) ++computed_too_;
  }
  if (group.points++ > 0 || !result || sweep::has_numbers(result->status)) return;
  group.first = fmt::format("{}: {}", name(), result->error.substr(0, result->error.find('\n')));
}

void SweepSummary::print(const std::string& what, std::size_t ran, sweep::Way way) const {
  const bool predicted = way == sweep::Way::predicted;
  const std::string good = predicted ? "predicted" : "done";
  std::size_t all = 0;
  std::string parts;
  for (const auto& [status, group] : groups_) {
    all += group.points;
    if (status == good) continue;
    parts += fmt::format(", {} {}", group.points, status.empty() ? "to do" : status);
  }
  const auto done = groups_.find(good);
  fmt::print("{}: {}, {} {} now: {} {}{}\n", what, counted(all, "point"), ran,
             predicted ? "planned" : "run", done == groups_.end() ? 0 : done->second.points, good,
             parts);
  for (const auto& [status, group] : groups_) {
    if (group.first.empty()) continue;
    const std::string more =
        group.points > 1 ? fmt::format(" (and {} more, see column error)", group.points - 1) : "";
    fmt::print("  {:<9} {}{}\n", status, group.first, more);
  }
  print_timing();
  print_unused();
}

void SweepSummary::add_unused(const nlohmann::ordered_json& report) {
  ++reports_;
  for (const std::string& axis : axes_) {
    const std::string why = report::why_unused(report, axis);
    if (why.empty()) continue;
    UnusedAxis& unused = unused_[axis];
    if (unused.points++ == 0) unused.why = why;
  }
}

void SweepSummary::print_unused() const {
  for (const auto& [axis, unused] : unused_)
    fmt::print("  unused    {} at {} of {}: {}\n", axis, unused.points, counted(reports_, "point"),
               unused.why);
}

void SweepSummary::print_timing() const {
  if (timed_ + in_full_ == 0) return;
  fmt::print("  timing    {} without values", counted(timed_, "point"));
  if (computed_too_ > 0)
    fmt::print(", {} of them computed beside, checked and found the same", computed_too_);
  if (in_full_ > 0) fmt::print("; {} in full, as values decide there", in_full_);
  fmt::print("\n");
}

ExitCode SweepSummary::exit_code(bool strict) const {
  if (groups_.contains("defect") || groups_.contains("died")) return ExitCode::defect;
  if (groups_.contains("starved")) return ExitCode::host_limit;
  if (groups_.contains("wrong")) return ExitCode::check_failed;
  const bool some = groups_.contains("done") || groups_.contains("predicted");
  if (!strict && some) return ExitCode::done;
  if (groups_.contains("failed")) return ExitCode::user_error;
  return groups_.contains("stuck") ? ExitCode::no_progress : ExitCode::done;
}

}  // namespace tessera::command
