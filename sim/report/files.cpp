#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

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

namespace {

/// Tests with an unnamed file, which leaves nothing behind if the process is killed; not every file
/// system supports it.
bool takes_unnamed_file(const fs::path& folder) {
  const int probe = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (probe >= 0) ::close(probe);
  return probe >= 0;
}

}  // namespace

void require_writable(const std::string& folder) {
  fs::path at = fs::absolute(folder).lexically_normal();
  while (!fs::exists(at) && at.has_relative_path()) at = at.parent_path();
  if (!fs::is_directory(at)) {
    throw UserError("{}: cannot be the folder of the results: {} is a file", folder, at.string());
  }
  if (takes_unnamed_file(at)) return;
  try {
    const WholeFile probe(at / "report.json");
  } catch (const UserError& error) {
    throw UserError("{}: cannot be the folder of the results: {}", folder, error.what());
  }
}

namespace {

/// Writes all files or none, unless a rename fails.
std::vector<std::string> write_files(const Report& report, const std::string& folder) {
  const std::string json = report.json.dump(2) + "\n";
  std::vector<std::pair<const char*, std::string_view>> texts = {
      {"steps.csv", report.steps_csv},
      {"tiles.csv", report.tiles_csv},
      {"traffic.csv", report.traffic_csv},
      {"buffers.csv", report.buffers_csv}};
  if (!report.tile_steps_npy.empty()) texts.emplace_back("tile_steps.npy", report.tile_steps_npy);
  if (!report.loss_csv.empty()) texts.emplace_back("loss.csv", report.loss_csv);
  if (!report.raster_csv.empty()) texts.emplace_back("raster.csv", report.raster_csv);
  texts.emplace_back("report.json", json);
  std::deque<WholeFile> files;  // WholeFile cannot move
  std::vector<std::string> names;
  for (const auto& [name, text] : texts) {
    names.emplace_back(name);
    files.emplace_back(fs::path(folder) / name);
    files.back().out() << text;
    files.back().finish();
  }
  for (WholeFile& file : files) file.commit();
  std::error_code absent;  // an earlier run's file in this folder
  if (report.tile_steps_npy.empty()) fs::remove(fs::path(folder) / "tile_steps.npy", absent);
  if (report.loss_csv.empty()) fs::remove(fs::path(folder) / "loss.csv", absent);
  if (report.raster_csv.empty()) fs::remove(fs::path(folder) / "raster.csv", absent);
  return names;
}

}  // namespace

std::vector<std::string> write_report(const Report& report, const std::string& folder) {
  create_folder(folder);
  try {
    return write_files(report, folder);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(folder, ignored);  // if it is empty
    throw;
  }
}

}  // namespace tessera::report
