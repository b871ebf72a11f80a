#include "sim/base/leftovers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::string host_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  return host.data();
}

struct Writer {
  std::string_view before;  ///< the name without its process id: file and host
  pid_t process;
};

/// The writer named in a temporary file's name; nullopt for other names.
std::optional<Writer> writer_of(std::string_view name) {
  const std::string_view ending = kTemporaryEnding;
  if (!name.ends_with(ending)) return std::nullopt;
  name.remove_suffix(ending.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  Writer writer{name.substr(0, dot), 0};
  const auto [end, error] =
      std::from_chars(name.data() + dot + 1, name.data() + name.size(), writer.process);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  if (!is_number || writer.process <= 0) return std::nullopt;
  return writer;
}

bool is_old(const fs::directory_entry& entry) {
  std::error_code failed;
  const fs::file_time_type written = entry.last_write_time(failed);
  return !failed && fs::file_time_type::clock::now() - written > std::chrono::hours(1);
}

bool is_leftover(const fs::directory_entry& entry, const std::string& host) {
  const std::string name = entry.path().filename();
  const std::optional<Writer> writer = writer_of(name);
  if (!writer || !entry.is_regular_file()) return false;
  if (!writer->before.ends_with("." + host)) return is_old(entry);
  return ::kill(writer->process, 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string temporary_name(const std::string& path) {
  constexpr std::size_t kLongestName = 255;
  const std::string ending = fmt::format(".{}.{}{}", host_name(), ::getpid(), kTemporaryEnding);
  const std::size_t name = path.rfind('/') + 1;
  const std::size_t most = kLongestName - std::min(kLongestName, ending.size());
  const bool fits_itself = path.size() - name <= kLongestName;
  return (fits_itself ? path.substr(0, name + most) : path) + ending;
}

void remove_leftovers(const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> leftovers;
  const std::string host = host_name();
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (is_leftover(entry, host)) leftovers.push_back(entry.path());
  }
  for (const fs::path& each : leftovers) fs::remove(each, failed);
}

}  // namespace tessera
