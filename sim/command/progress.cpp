#include "sim/command/progress.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include "sim/base/errors.h"

namespace tessera::command {

void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one. The wrong direction keeps calls failing with EBADF.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

namespace {

void write_error(const std::string& text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace

void tell(const std::string& text) { write_error(legible(text)); }

Progress::Progress(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

void Progress::show(const std::string& text) {
  if (shown_) write_error("\r\x1b[K" + legible(text));
}

void Progress::clear() { show(""); }

}  // namespace tessera::command
