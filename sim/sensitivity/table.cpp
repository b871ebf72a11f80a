#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/report/units.h"
#include "sim/sensitivity/result.h"

namespace tessera::sensitivity {
namespace {

constexpr std::string_view kMachine = "machine.";

/// The key's path without "machine.".
std::string short_name(const Key& key) { return key.path().substr(kMachine.size()); }

/// "0.925  +100.0 %*": the key's value and the change of time; `*`: another plan.
std::string end_cell(const Result& result, const End& end) {
  if (!end.value) return "-";
  if (!end.answer.error.empty()) return fmt::format("{:.4g} refused", *end.value);
  const double change = end.answer.seconds / result.base.seconds - 1;
  return fmt::format("{:.4g} {:>+8.1f} %{}", *end.value, 100 * change,
                     replanned(result, end) ? "*" : " ");
}

std::string slope_cell(const Result& result, const Key& key, Metric metric) {
  if (metric == Metric::area && !key.area_model) return "none";
  const std::optional<double> value = slope(result, key, metric);
  if (!value) return "?";
  return std::abs(*value) < 5e-4 ? "0" : fmt::format("{:+.3f}", *value);
}

std::string heading(const Result& result) {
  std::string text =
      fmt::format("{}\n  {}: {}", result.heading, result.simulated ? "simulated" : "predicted",
                  report::seconds(result.base.seconds));
  if (result.base.joules) text += ", " + report::scaled_down(*result.base.joules, "J");
  if (result.base.mm2) text += fmt::format(", {:.0f} mm2", *result.base.mm2);
  return text + "\n\n";
}

/// Wraps names into lines of limited width.
std::string listed(const std::vector<std::string>& items) {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::string line = "   ";
  for (const std::string& item : items) {
    if (line.size() + item.size() + 1 > kWidth) {
      text += line + "\n";
      line = "   ";
    }
    line += " " + item;
  }
  return text + line + "\n";
}

constexpr std::string_view kHeading = "d log ... / d log key";

/// Width of the names' column: the heading and the keys that have a row.
std::size_t name_width(const Result& result) {
  std::size_t width = kHeading.size();
  for (const Key& key : result.keys) {
    if (acts(result, key)) width = std::max(width, short_name(key).size());
  }
  return width;
}

bool energy_unknown(const Result& result) {
  return !result.simulated && result.base.mm2 && !result.base.joules;
}

/// The first line of a message about a key, without its path.
std::string reason(const Key& key, const std::string& message) {
  const std::string line = message.substr(0, message.find('\n'));
  const std::string path = key.number.path + ": ";
  const std::size_t at = line.rfind(path);
  return at == std::string::npos ? line : line.substr(at + path.size());
}

std::string refused_lines(const Result& result) {
  std::string text;
  for (const Key& key : result.keys) {
    for (const End* end : {&key.low, &key.high}) {
      const std::string& error = end->answer.error;
      if (!error.empty())
        text += fmt::format("    {} {:.4g}: {}\n", short_name(key), end->value.value_or(0),
                            reason(key, error));
    }
  }
  return text.empty() ? "" : "\n  does not run:\n" + text;
}

/// Predictions may miss effects that a run would show: then only the prediction is unchanged.
std::string idle_lines(const Result& result) {
  std::vector<std::string> idle;
  for (const Key& key : result.keys) {
    if (key.held.empty() && !acts(result, key)) idle.emplace_back(short_name(key));
  }
  if (idle.empty()) return "";
  const char* const what = energy_unknown(result) ? "neither time nor area" : "nothing";
  return fmt::format("\n  {} {} {} {}:\n{}", counted(idle.size(), "key"),
                     idle.size() == 1 ? "changes" : "change", what,
                     result.simulated ? "of this run at either value"
                                      : "that is predicted, at either value; --simulate runs them",
                     listed(idle)) +
         "  Each moved alone: of two that bind together neither shows; --key A+B moves both.\n";
}

std::string held_lines(const Result& result) {
  std::vector<std::string> zero;
  std::string text;
  for (const Key& key : result.keys) {
    if (key.held.empty()) continue;
    if (key.number.value == 0) {
      zero.emplace_back(short_name(key));
    } else {
      text += fmt::format("    {} {:.4g}: {}\n", short_name(key), key.number.value,
                          reason(key, key.held));
    }
  }
  if (!text.empty()) text = "\n  cannot be moved:\n" + text;
  if (!zero.empty())
    text += fmt::format("\n  {} {} 0, which no factor moves:\n{}", counted(zero.size(), "key"),
                        zero.size() == 1 ? "is" : "are", listed(zero));
  return text;
}

}  // namespace

std::string table(const Result& result) {
  std::string text = heading(result);
  const std::size_t width = name_width(result);
  const auto row = [&](auto key, auto value, auto low, auto high, auto time, auto energy,
                       auto area) {
    text += fmt::format("  {:<{}} {:>7} {:>18} {:>18}  {:>7} {:>7} {:>7}\n", key, width, value, low,
                        high, time, energy, area);
  };
  row(kHeading, "value", fmt::format("x 1/{:g}", result.by) + "  time  ",
      fmt::format("x {:g}", result.by) + "  time  ", "time", "energy", "area");
  bool any_replanned = false;
  bool any_without = false;
  for (const Key& key : result.keys) {
    for (const End* end : {&key.low, &key.high})
      any_replanned = any_replanned || replanned(result, *end);
    if (!acts(result, key)) continue;
    row(short_name(key), fmt::format("{:.4g}", key.number.value), end_cell(result, key.low),
        end_cell(result, key.high), slope_cell(result, key, Metric::time),
        slope_cell(result, key, Metric::energy), slope_cell(result, key, Metric::area));
    any_without = any_without || !key.area_model;
  }
  if (any_replanned) text += "  * with another plan\n";
  if (any_without)
    text += "  none: the area of this key's hardware has no model, as no public number gives it\n";
  if (!result.base.mm2) text += "  ? the machine has no table of energy and area\n";
  if (energy_unknown(result))
    text += "  ? energy is not predicted: the data decide how often loops turn; --simulate tells\n";
  return text + refused_lines(result) + idle_lines(result) + held_lines(result);
}

}  // namespace tessera::sensitivity
