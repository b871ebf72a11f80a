#include "sim/base/whole_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// Of this process alone, also among hosts that share the folder.
std::string temporary_name(const std::string& path) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  return fmt::format("{}.{}.{}{}", path, host.data(), ::getpid(), kTemporaryEnding);
}

UserError cannot_be_written(const std::string& path, const std::string& reason) {
  return UserError(fmt::format("{}: cannot be written: {}", path, reason));
}

}  // namespace

WholeFile::WholeFile(std::string path) : path_(std::move(path)) {
  temporary_.emplace(temporary_name(path_));
  errno = 0;
  out_.open(temporary_->path(), std::ios::binary);
  if (!out_) throw cannot_be_written(path_, std::strerror(errno));
}

WholeFile::~WholeFile() {
  if (!temporary_) return;
  out_.close();
  std::error_code ignored;
  fs::remove(temporary_->path(), ignored);
}

void WholeFile::finish() {
  if (!out_.is_open()) return;
  if (out_) errno = 0;  // else it tells why the last write failed
  const bool written = static_cast<bool>(out_.flush());
  const std::string reason = std::strerror(errno);
  out_.close();
  if (!written || !out_) throw cannot_be_written(path_, reason);
}

void WholeFile::commit() {
  finish();
  std::error_code failed;
  fs::rename(temporary_->path(), path_, failed);
  if (failed) throw cannot_be_written(path_, failed.message());
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
    throw UserError(fmt::format("{}: cannot be created: {}", folder, failed.message()));
  }
}

}  // namespace tessera
