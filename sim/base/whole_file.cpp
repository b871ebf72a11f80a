#include "sim/base/whole_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/host_limit.h"
#include "sim/base/leftovers.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_be_written(const std::string& path, int error) {
  throw_host_error(error, fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

/// A device, pipe or socket.
bool is_special(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Follows symbolic links, even to a file that does not exist yet.
fs::path followed(fs::path path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::error_code failed;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, failed); ++i)
    path = path.parent_path() / fs::read_symlink(path, failed);
  return path;
}

}  // namespace

WholeFile::WholeFile(std::string path) : path_(std::move(path)), target_(path_) {
  if (!is_special(path_)) {
    target_ = followed(path_).string();
    temporary_.emplace(temporary_name(target_));
  }
  errno = 0;
  out_.open(temporary_ ? temporary_->path() : target_, std::ios::binary);
  if (!out_) cannot_be_written(path_, errno);
}

WholeFile::~WholeFile() {
  if (!temporary_) return;
  out_.close();
  std::error_code ignored;
  fs::remove(temporary_->path(), ignored);
}

void WholeFile::finish() {
  if (!out_.is_open()) return;
  if (out_) errno = 0;  // else errno holds why an earlier write failed
  const bool written = static_cast<bool>(out_.flush());
  const int reason = errno;
  out_.close();
  if (written && out_) return;
  // The file is already open, so the error means lack of disk space.
  throw HostLimit(fmt::format("{}: cannot be written: {}", path_, std::strerror(reason)));
}

void WholeFile::commit() {
  finish();
  if (!temporary_) return;
  std::error_code failed;
  fs::rename(temporary_->path(), target_, failed);
  if (failed) cannot_be_written(path_, failed.value());
  temporary_.reset();
}

void write_whole(const std::string& path, const std::string& text) {
  WholeFile file(path);
  file.out() << text;
  file.commit();
}

void create_folder(const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw_host_error(failed.value(),
                     fmt::format("{}: cannot be created: {}", folder, failed.message()));
  }
}

}  // namespace tessera
