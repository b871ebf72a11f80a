#include "sim/data/child_reader.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "sim/base/children.h"
#include "sim/base/errors.h"
#include "sim/base/host_limit.h"

namespace tessera::data {

namespace {

constexpr std::uint64_t kFileCopies = 3;

/// First byte of the text that a child returns.
constexpr char kRead = 'R';
constexpr char kMistake = 'M';

void lower_limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, most);
  ::setrlimit(resource, &limit);
}

/// First steps of a process that may crash: limits memory and time, silences stderr, no core dumps.
void expect_the_worst(const ReadLimits& limits) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  lower_limit(RLIMIT_AS, pages * page_bytes + limits.memory);
  lower_limit(RLIMIT_CPU, limits.seconds);
  lower_limit(RLIMIT_CORE, 0);
  for (const int signal : {SIGXCPU, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    std::signal(signal, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
}

}  // namespace

std::string read_in_child(const std::string& name, std::string bytes, ReadLimits limits,
                          const std::function<std::string(std::string)>& read) {
  limits.memory += kFileCopies * bytes.size();
  Children children;
  children.start(0, [&](std::size_t) {
    expect_the_worst(limits);
    try {
      return kRead + read(std::move(bytes));
    } catch (const UserError& error) {
      return kMistake + std::string(error.what());
    } catch (const std::bad_alloc&) {
      return kMistake +
             fmt::format("{}: reading it takes more than {} MiB", name, limits.memory >> 20U);
    }
  });
  bytes = {};  // the child has its copy
  std::vector<Children::Finished> finished;
  while (finished.empty()) finished = children.wait();
  auto& [item, text, death, starved] = finished.front();
  if (starved) throw HostLimit(fmt::format("{}: the process that reads it: {}", name, death));
  if (!death.empty())
    throw UserError("{}: no file that libhdf5 can read: it ends with {}", name, death);
  check(!text.empty(), "child_reader: nothing came of reading {}", name);
  const bool mistake = text.front() == kMistake;
  text.erase(0, 1);
  if (mistake) throw UserError(text);
  return std::move(text);
}

}  // namespace tessera::data
