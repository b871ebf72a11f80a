#include "sim/command/validate.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "sim/base/whole_file.h"
#include "sim/command/validation_runs.h"
#include "sim/command/validation_table.h"
#include "sim/config/nearest.h"

namespace tessera::command {
namespace {

bool validate_set(const ValidationSet& set, const ValidateRequest& request,
                  const std::string& folder, const Simulator& simulator) {
  ValidationRuns runs(set, request.quick, simulator);
  if (runs.empty()) return true;
  print_heading(set);
  const unsigned jobs =
      request.jobs > 0 ? request.jobs : std::max(1U, std::thread::hardware_concurrency());
  const std::vector<Row> rows = runs.run(jobs, print_row);
  if (!folder.empty()) {
    create_folder(folder);
    write_whole(std::filesystem::path(folder) / (set.name + ".csv"), table_csv(set, rows));
    fmt::print("  table: {}/{}.csv\n", folder, set.name);
  }
  if (!set.why.empty()) fmt::print("  why: {}\n", set.why);
  return judge(set, rows, request.quick);
}

bool is_file(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".jsonc") || name.find('/') != std::string::npos;
}

ValidationSet set_of_file(const std::string& file) {
  const std::string text = config::read_text(file);
  const std::string name = std::filesystem::path(file).stem().string();
  return read_validation_set({name, text}, file);
}

}  // namespace

ExitCode validate(const ValidateRequest& request, const Simulator& simulator) {
  std::vector<std::string_view> names;
  for (const config::Preset& preset : simulator.validation) names.push_back(preset.name);
  for (const std::string& name : request.sets) {
    if (is_file(name) || std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw UserError(fmt::format("tessera validate: found {}, allowed {}, or a file{}", name,
                                config::list_of(names), config::did_you_mean(name, names)));
  }
  bool passed = true;
  const auto& wanted = request.sets;
  for (const config::Preset& preset : simulator.validation) {
    const std::string name(preset.name);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    passed &= validate_set(read_validation_set(preset), request, request.out, simulator);
  }
  for (const std::string& file : wanted) {
    if (!is_file(file)) continue;
    const std::string folder = request.out.empty() ? "runs" : request.out;
    passed &= validate_set(set_of_file(file), request, folder, simulator);
  }
  return passed ? ExitCode::done : ExitCode::check_failed;
}

}  // namespace tessera::command
