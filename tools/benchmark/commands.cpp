#include "tools/benchmark/commands.h"

#include <cstdio>
#include <sys/resource.h>

#include "sim/base/errors.h"
#include "sim/base/stopwatch.h"

namespace tessera::benchmark {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

rusage of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return usage;
}

}  // namespace

Ran run(const std::string& command) {
  Ran ran;
  const rusage before = of_children();
  const Stopwatch watch;
  FILE* const pipe = ::popen(command.c_str(), "r");
  check(pipe != nullptr, "benchmark: cannot run {}", command);
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) ran.output += buffer;
  ran.status = ::pclose(pipe);
  ran.wall_seconds = watch.seconds();
  const rusage after = of_children();
  ran.user_seconds = seconds(after.ru_utime) - seconds(before.ru_utime);
  ran.processor_seconds = ran.user_seconds + seconds(after.ru_stime) - seconds(before.ru_stime);
  return ran;
}

}  // namespace tessera::benchmark
