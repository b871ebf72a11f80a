#include "sim/base/unfinished.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "sim/base/host_limit.h"
#include "sim/base/whole_file.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// The only state that signal handlers touch. Whoever exchanges a path for null owns it: no lock.
constexpr std::size_t kPlaces = 64;  // paths beyond these are not removed
std::array<std::atomic<const char*>, kPlaces> paths_{};
std::atomic_flag ending_;
std::atomic<const char*> on_interrupt_{nullptr};

std::size_t put(const char* path) {
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const char* none = nullptr;
    if (paths_[i].compare_exchange_strong(none, path)) return i;
  }
  return kPlaces;
}

/// Signal handler: may only make async-signal-safe calls; other threads keep running.
void end_process(int signal) {
  if (ending_.test_and_set()) return;
  std::array<const char*, kPlaces> taken{};
  for (std::size_t i = 0; i < kPlaces; ++i) {
    taken[i] = paths_[i].exchange(nullptr);
    if (taken[i] != nullptr) ::unlink(taken[i]);
  }
  // Removes folders if they are empty, inner ones (at higher indices) first.
  for (std::size_t i = kPlaces; i-- > 0;)
    if (taken[i] != nullptr) ::rmdir(taken[i]);
  const char* const message = on_interrupt_;
  if (signal != SIGXCPU && message != nullptr) {
    constexpr std::string_view kNewLine = "\r\x1b[K";  // overwrites a progress line
    if (::isatty(STDERR_FILENO) == 1)
      static_cast<void>(!::write(STDERR_FILENO, kNewLine.data(), kNewLine.size()));
    static_cast<void>(!::write(STDERR_FILENO, message, std::strlen(message)));
  }
  if (signal != SIGXCPU) std::_Exit(static_cast<int>(ExitCode::interrupted));
  constexpr std::string_view kWhy = "the host gives no more processor time (ulimit -t)\n";
  static_cast<void>(!::write(STDERR_FILENO, kWhy.data(), kWhy.size()));
  std::_Exit(static_cast<int>(ExitCode::host_limit));
}

/// The missing folders on the path to `folder`, outermost first.
std::vector<std::string> missing(const fs::path& folder) {
  std::vector<std::string> missing;
  fs::path path;
  std::error_code ignored;
  for (const fs::path& part : folder) {
    path /= part;
    if (!part.empty() && !fs::exists(path, ignored)) missing.push_back(path.string());
  }
  return missing;
}

}  // namespace

Unfinished::Unfinished(const std::string& path)
    : path_(std::make_unique<const std::string>(path)), place_(put(path_->c_str())) {}

Unfinished::~Unfinished() {
  const bool taken = place_ < kPlaces && paths_[place_].exchange(nullptr) == nullptr;
  // A signal handler took it and is about to end the process: the text must stay allocated.
  if (taken) static_cast<void>(path_.release());
}

NewFolder::NewFolder(const std::string& folder) {
  for (const std::string& each : missing(folder)) made_.emplace_back(each);
  create_folder(folder);
}

NewFolder::~NewFolder() {
  for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().path().c_str());
}

void clean_up_on_signals(const char* message) {
  on_interrupt_ = message;
  for (std::atomic<const char*>& path : paths_) path = nullptr;
  struct sigaction action {};
  action.sa_handler = end_process;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    const bool ignored = signal == SIGHUP && before.sa_handler == SIG_IGN;
    if (!ignored) ::sigaction(signal, &action, nullptr);
  }
  ::signal(SIGXFSZ, SIG_IGN);  // the write fails instead and reports the error
}

}  // namespace tessera
