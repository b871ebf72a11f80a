#include "call.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr double kStandsStill = 300;  // seconds; the host may be busy
constexpr double kWaitsForPipe = 30;

void stream(int number, Stream kind, const std::string& file) {
  if (kind == Stream::closed) {
    ::close(number);
    return;
  }
  const char* const name = kind == Stream::full ? "/dev/full" : file.c_str();
  const int opened = ::open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (opened == number) return;
  ::dup2(opened, number);
  ::close(opened);  // unless it has the number of the stream itself
}

void lay(Special kind, const fs::path& path) {
  fs::remove_all(path);
  constexpr mode_t kOurs = 0600;
  if (kind == Special::folder) fs::create_directories(path);
  if (kind == Special::pipe) ::mkfifo(path.c_str(), kOurs);
  if (kind == Special::link_to_device) fs::create_symlink("/dev/zero", path);
  if (kind == Special::dangling_link) fs::create_symlink("nowhere", path);
  if (kind == Special::link_to_file) {
    write(path.string() + ".target", "{}");
    fs::create_symlink(path.filename().string() + ".target", path);
  }
}

// The address sanitizer reserves terabytes of addresses.
#if defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

void limit(int resource, rlim_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

[[noreturn]] void become(const std::string& program, const Limits& limits, const Input& input,
                         const fs::path& folder) {
  constexpr rlim_t kGib = 1UL << 30;
  ::setpgid(0, 0);
  if (limits.gib > 0 && !kSanitized) limit(RLIMIT_AS, limits.gib * kGib);
  limit(RLIMIT_FSIZE, kGib);
  limit(RLIMIT_CORE, 0);
  const rlim_t seconds = (input.searches ? 2 : 1) * limits.seconds;
  const rlimit time{seconds, seconds + 2};
  ::setrlimit(RLIMIT_CPU, &time);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  const std::string beside = folder.string();
  ::dup2(::open((beside + ".in").c_str(), O_RDONLY), STDIN_FILENO);
  stream(STDOUT_FILENO, input.out, beside + ".out");
  stream(STDERR_FILENO, input.error, beside + ".err");
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& each : input.arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  ::_exit(127);
}

}  // namespace

/// Ends the process group with its first process.
Outcome call(const std::string& program, const Limits& limits, const Input& input,
             const fs::path& folder) {
  write(folder.string() + ".in", input.standard_input);
  for (const char* stream : {".out", ".err"}) fs::remove(folder.string() + stream);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t process = ::fork();
  if (process == 0) become(program, limits, input, folder);
  Outcome outcome;
  while (::waitpid(process, &outcome.status, WNOHANG) == 0) {
    constexpr useconds_t kPoll = 1000;
    ::usleep(kPoll);
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (outcome.seconds < (input.specials.empty() ? kStandsStill : kWaitsForPipe)) continue;
    outcome.timed_out = true;
    ::kill(-process, SIGKILL);
  }
  return outcome;
}

void lay(const Input& input, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, text] : input.files) {
    fs::create_directories((folder / name).parent_path());
    write(folder / name, text);
  }
  for (const auto& [name, kind] : input.specials) lay(kind, folder / name);
}

std::string replaced(const Input& input, const fs::path& folder) {
  for (const auto& [name, kind] : input.specials) {
    const fs::file_type now = fs::symlink_status(folder / name).type();
    const fs::file_type laid = kind == Special::folder ? fs::file_type::directory
                               : kind == Special::pipe ? fs::file_type::fifo
                                                       : fs::file_type::symlink;
    if (now != laid) return name;
  }
  return "";
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace tessera::fuzz
