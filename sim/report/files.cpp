#include <filesystem>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/whole_file.h"
#include "sim/report/report.h"

namespace tessera::report {

namespace fs = std::filesystem;

std::string output_folder(const config::Config& config) {
  if (!config.report.out.empty()) return config.report.out;
  return fmt::format("runs/{}-{}", config.name, config::config_hash(config.resolved));
}

void require_writable(const std::string& folder) {
  fs::path at = fs::absolute(folder).lexically_normal();
  while (!fs::exists(at) && at.has_relative_path()) at = at.parent_path();
  if (!fs::is_directory(at)) {
    throw UserError(
        fmt::format("{}: cannot be the folder of the results: {} is a file", folder, at.string()));
  }
  try {
    const WholeFile probe(at / "report.json");
  } catch (const UserError& error) {
    throw UserError(
        fmt::format("{}: cannot be the folder of the results: {}", folder, error.what()));
  }
}

namespace {

/// All or none, but for a failing rename.
void write_files(const Report& report, const std::string& folder) {
  WholeFile steps(fs::path(folder) / "steps.csv");
  WholeFile tiles(fs::path(folder) / "tiles.csv");
  WholeFile whole(fs::path(folder) / "report.json");
  steps.out() << report.steps_csv;
  steps.finish();
  tiles.out() << report.tiles_csv;
  tiles.finish();
  whole.out() << report.json.dump(2) << "\n";
  whole.finish();
  for (WholeFile* const file : {&steps, &tiles, &whole}) file->commit();
}

}  // namespace

void write_report(const Report& report, const std::string& folder) {
  create_folder(folder);
  try {
    write_files(report, folder);
  } catch (const UserError&) {
    std::error_code ignored;
    fs::remove(folder, ignored);  // if it is empty
    throw;
  }
}

}  // namespace tessera::report
