#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/report/report.h"

namespace tessera::report {
namespace {

namespace fs = std::filesystem;

/// Writes under a temporary name first, so that readers never see half a file.
void write_whole(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + fmt::format(".{}.tmp", ::getpid());
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  std::error_code failed;
  if (out) fs::rename(temporary, path, failed);
  if (out && !failed) return;
  const std::string reason = failed ? failed.message() : std::strerror(errno);
  fs::remove(temporary, failed);
  throw UserError(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

}  // namespace

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
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw UserError(fmt::format("{}: cannot be created: {}", folder, failed.message()));
  }
  write_whole(fs::path(folder) / "steps.csv", report.steps_csv);
  write_whole(fs::path(folder) / "tiles.csv", report.tiles_csv);
  write_whole(fs::path(folder) / "report.json", report.json.dump(2) + "\n");
}

}  // namespace tessera::report
