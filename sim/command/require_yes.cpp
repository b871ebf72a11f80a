#include "sim/command/require_yes.h"

#include <array>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/command/progress.h"
#include "sim/report/units.h"

namespace tessera::command {
namespace {

/// The first letter of a line of standard input; line end if there is none.
char first_letter() {
  std::array<char, 64> line{};
  return std::fgets(line.data(), static_cast<int>(line.size()), stdin) == nullptr ? '\n' : line[0];
}

}  // namespace

void require_yes(const std::string& name, std::size_t points) {
  if (points <= kMostUnasked) return;
  const std::string count = report::grouped(points);
  const std::string most = report::grouped(kMostUnasked);
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1)
    throw UserError(fmt::format(
        "tessera sweep: {}: found {} points to simulate, allowed {} unless --yes is given; "
        "--dry-run lists them, --predict plans them only",
        name, count, most));
  tell(fmt::format("{}: simulate {} points? [y/N] ", name, count));
  const char answer = first_letter();
  if (answer == 'y' || answer == 'Y') return;
  throw UserError("tessera sweep: not confirmed: nothing was run; --dry-run lists the points");
}

}  // namespace tessera::command
