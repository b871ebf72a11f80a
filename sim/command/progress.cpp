#include "sim/command/progress.h"

#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

namespace tessera::command {

Progress::Progress(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

void Progress::show(const std::string& text) {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
}

void Progress::clear() { show(""); }

}  // namespace tessera::command
