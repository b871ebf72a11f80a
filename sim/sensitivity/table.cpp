#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/report/units.h"
#include "sim/sensitivity/result.h"

namespace tessera::sensitivity {
namespace {

constexpr std::string_view kMachine = "machine.";

/// Keys are all of the machine.
std::string_view short_name(const Key& key) {
  return std::string_view(key.number.path).substr(kMachine.size());
}

/// "0.925  +100.0 %*": the key's value there and what time is, `*` with another plan.
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

/// Names in lines of limited width.
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

}  // namespace

std::string table(const Result& result) {
  std::string text = heading(result);
  const auto row = [&](auto key, auto value, auto low, auto high, auto time, auto energy,
                       auto area) {
    text += fmt::format("  {:<38} {:>7} {:>18} {:>18}  {:>7} {:>7} {:>7}\n", key, value, low, high,
                        time, energy, area);
  };
  row("d log ... / d log key", "value", fmt::format("x 1/{:g}", result.by) + "  time  ",
      fmt::format("x {:g}", result.by) + "  time  ", "time", "energy", "area");
  std::vector<std::string> idle;
  std::string held;
  std::string refused;
  bool any_replanned = false;
  bool any_without = false;
  for (const Key& key : result.keys) {
    const std::string name(short_name(key));
    for (const End* end : {&key.low, &key.high}) {
      any_replanned = any_replanned || replanned(result, *end);
      if (!end->answer.error.empty())
        refused += fmt::format("    {} {:.4g}: {}\n", name, end->value.value_or(0),
                               end->answer.error.substr(0, end->answer.error.find('\n')));
    }
    if (!key.held.empty()) {
      held += fmt::format("    {} {:.4g}: {}\n", name, key.number.value,
                          key.held.substr(0, key.held.find('\n')));
    } else if (!acts(result, key)) {
      idle.push_back(name);
    } else {
      row(name, fmt::format("{:.4g}", key.number.value), end_cell(result, key.low),
          end_cell(result, key.high), slope_cell(result, key, Metric::time),
          slope_cell(result, key, Metric::energy), slope_cell(result, key, Metric::area));
      any_without = any_without || !key.area_model;
    }
  }
  if (any_replanned) text += "  * with another plan\n";
  if (any_without)
    text += "  none: the area of this key's hardware has no model, as no public number gives it\n";
  const bool unpredicted = !result.simulated && result.base.mm2 && !result.base.joules;
  if (unpredicted)
    text += "  ? energy is not predicted: the data decide how often loops turn; --simulate tells\n";
  if (!refused.empty()) text += "\n  does not run:\n" + refused;
  if (!idle.empty())
    text += fmt::format("\n  {} {} {} of this run at either value:\n{}",
                        counted(idle.size(), "key"), idle.size() == 1 ? "changes" : "change",
                        unpredicted ? "neither time nor area" : "nothing", listed(idle));
  if (!held.empty()) text += "\n  cannot be moved:\n" + held;
  return text;
}

}  // namespace tessera::sensitivity
