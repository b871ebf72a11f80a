#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

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
  if (::access(at.c_str(), W_OK | X_OK) != 0) {
    throw UserError(fmt::format("{}: cannot be the folder of the results: {}: {}", folder,
                                at.string(), std::strerror(errno)));
  }
}

void write_report(const Report& report, const std::string& folder) {
  create_folder(folder);
  write_whole(fs::path(folder) / "steps.csv", report.steps_csv);
  write_whole(fs::path(folder) / "tiles.csv", report.tiles_csv);
  write_whole(fs::path(folder) / "report.json", report.json.dump(2) + "\n");
}

}  // namespace tessera::report
