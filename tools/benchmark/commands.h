#pragma once

#include <string>

namespace tessera::benchmark {

/// A command of the shell: what it wrote, and what it took of this host.
struct Ran {
  std::string output;
  int status = 0;                ///< as of waitpid
  double user_seconds = 0;       ///< sum over its threads
  double processor_seconds = 0;  ///< with the kernel's
  double wall_seconds = 0;
};

/// Runs it to its end. One at a time.
Ran run(const std::string& command);

}  // namespace tessera::benchmark
