#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/plot/rows.h"

namespace tessera::plot {
namespace {

constexpr std::string_view kFailed = "failed";

struct Reason {
  std::string_view status, one, several;
};

/// In the order in which they are told. A failed point is one that does not fit if its message says
/// so.
constexpr std::array kReasons = {
    Reason{"does not fit", "that does not fit", "that do not fit"},
    Reason{kFailed, "that cannot run", "that cannot run"},
    Reason{"wrong", "with a wrong result", "with wrong results"},
    Reason{"stuck", "that made no progress", "that made no progress"},
    Reason{"defect", "that met a defect of tessera", "that met a defect of tessera"},
    Reason{"died", "whose process died", "whose processes died"},
    Reason{"starved", "that the host had not enough for", "that the host had not enough for"},
    Reason{"", "not simulated", "not simulated"}};

std::string_view reason_of(const Row& row) {
  // "does not fit", "no plan fits": however a kernel says it.
  const bool fits = row.error.find(" fit") == std::string::npos;
  return row.status == kFailed && !fits ? kReasons.front().status : std::string_view(row.status);
}

}  // namespace

bool is_infeasible(const Row& row) { return row.status == kFailed; }

std::string told_left_out(std::span<const Row> left_out) {
  std::string text;
  std::size_t told = 0;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count == 0) return;
    text += text.empty() ? counted(count, "point") : fmt::format(", {}", count);
    text += fmt::format(" {}", what);
    told += count;
  };
  for (const Reason& reason : kReasons) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        left_out, [&](const Row& row) { return reason_of(row) == reason.status; }));
    add(count, count == 1 ? reason.one : reason.several);
  }
  add(left_out.size() - told, "without a result");
  return text;
}

}  // namespace tessera::plot
