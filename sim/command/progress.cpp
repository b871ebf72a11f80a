#include "sim/command/progress.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/sweep/store.h"

namespace tessera::command {

void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free number: this. The wrong direction keeps calls failing (EBADF).
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

bool Progress::is_due() {
  constexpr double kAtLeast = 0.1;
  if (watch_.seconds() < due_at_) return false;
  due_at_ = watch_.seconds() + kAtLeast;
  return true;
}

void SweepProgress::count(const std::string& status) {
  ++counted_;
  if (!sweep::has_numbers(status)) ++not_done_;
}

void SweepProgress::show() {
  if (!line_.is_due()) return;
  const double rate = static_cast<double>(counted_) / watch_.seconds();
  std::string text =
      fmt::format("{}: {} of {}", name_, counted_, tessera::counted(points_, "point"));
  if (counted_ > 0) {
    text += fmt::format(", {:.3g} a second, {} left", rate,
                        time_left(static_cast<double>(points_ - counted_) / rate));
  }
  if (not_done_ > 0) text += fmt::format(", {} not done", not_done_);
  line_.show(text);
}

std::string time_left(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace tessera::command
