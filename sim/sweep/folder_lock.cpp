#include "sim/sweep/folder_lock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "sim/base/host_limit.h"
#include "sim/config/json_text.h"

namespace tessera::sweep {
namespace {

using config::Json;

std::string text_of(int descriptor) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::pread(descriptor, buffer.data(), buffer.size(), 0);
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

Json owner_in(int descriptor) {
  const Json owner = Json::parse(text_of(descriptor), nullptr, /*allow_exceptions=*/false);
  return owner.is_object() ? owner : Json::object();
}

std::string this_process(const FolderLock::Work& work, const std::string& points) {
  std::array<char, 256> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const Json owner = {{work.kind, work.name},
                      {"host", host.data()},
                      {"process", ::getpid()},
                      {"since", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(now))},
                      {"points", points}};
  return config::one_line(owner) + "\n";
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, Work work, const std::string& points,
                       bool is_shard)
    : work_(std::move(work)),
      file_(fmt::format("{}/{}.lock", folder, work_.kind)),
      is_shard_(is_shard) {
  const std::string owner = this_process(work_, points);
  constexpr int kTries = 40;  // two seconds, enough for the other process to write its name
  for (int i = 0; i < kTries; ++i) {
    open();
    const bool acquired = acquire(owner, points);
    const bool in_place = is_in_place();
    if (acquired && in_place) {
      if (!is_shard) unfinished_.emplace(file_);
      return;
    }
    const bool is_known = in_place && !owner_in(descriptor_).empty();
    if ((is_known && !is_shard) || i + 1 == kTries) refuse(folder);
    close();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

FolderLock::~FolderLock() {
  const bool is_last = lock(F_WRLCK);
  if (is_last && is_in_place()) ::unlink(file_.c_str());
  close();
}

/// The first owner writes its name while it holds the lock alone.
bool FolderLock::acquire(const std::string& owner, const std::string& points) {
  if (lock(F_WRLCK)) {
    write(owner);
    return !is_shard_ || lock(F_RDLCK);
  }
  return is_shard_ && lock(F_RDLCK) && owner_in(descriptor_).value("points", "") == points;
}

void FolderLock::open() {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  throw_host_error(errno, fmt::format("{}: cannot be written: {}", file_, std::strerror(errno)));
}

void FolderLock::close() {
  ::close(descriptor_);
  descriptor_ = -1;
}

bool FolderLock::lock(short kind) const {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor_, F_SETLK, &whole) == 0) return true;
  return errno != EAGAIN && errno != EACCES;
}

/// False if the last owner removed the file between our opening and locking it.
bool FolderLock::is_in_place() const {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor_, &opened) == 0 && ::stat(file_.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void FolderLock::write(const std::string& owner) {
  const bool written =
      ::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, owner.data(), owner.size(), 0) == static_cast<ssize_t>(owner.size());
  if (written) return;
  const int reason = errno;
  ::unlink(file_.c_str());
  close();
  throw_host_error(reason, fmt::format("{}: cannot be written: {}", file_, std::strerror(reason)));
}

void FolderLock::refuse(const std::string& folder) const {
  const Json owner = owner_in(descriptor_);
  const Json process = owner.value("process", Json());
  throw UserError(fmt::format(
      "{}: another {} is at work there: {}, process {} on {}, since {}; wait for it, or give "
      "another folder",
      folder, work_.kind, owner.value(work_.kind, "one that does not say which"), process.dump(),
      owner.value("host", "?"), owner.value("since", "?")));
}

}  // namespace tessera::sweep
