#include "sim/plot/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tessera::plot {
namespace {

/// A key's ending and its unit; `prefixed`: takes the prefixes k, M, G, T.
struct Ending {
  std::string_view text, unit;
  bool prefixed;
};

constexpr std::array kEndings = {Ending{"flops_per_second", "FLOP/s", true},
                                 Ending{"operations_per_second", "OP/s", true},
                                 Ending{"bytes_per_second", "B/s", true},
                                 Ending{"peak_per_second", "/s", true},
                                 Ending{"cycles", "cycles", false},
                                 Ending{"seconds", "s", true},
                                 Ending{"bytes", "B", true},
                                 Ending{"max_tile_sent", "B", true},
                                 Ending{"max_tile_received", "B", true},
                                 Ending{"flops", "FLOP", true},
                                 Ending{"instructions", "instructions", true},
                                 Ending{"joules", "J", true},
                                 Ending{"area_mm2", "mm2", false},
                                 Ending{"watts", "W", true},
                                 Ending{"flops_per_joule", "FLOP/J", true},
                                 Ending{"kib", "KiB", false},
                                 Ending{"volts", "V", false},
                                 Ending{"ghz", "GHz", false}};

/// Factor to the drawn number, and the prefix: a power of a thousand.
std::pair<double, std::string> prefix_of(double largest) {
  constexpr std::array kPrefixes = {"n", "µ", "m", "", "k", "M", "G", "T", "P", "E"};
  if (largest <= 0 || !std::isfinite(largest)) return {1, ""};
  constexpr double kPlain = 3;  // the index of the empty prefix
  const double power = std::clamp(std::floor(std::log10(largest) / 3), -kPlain, 6.0);
  return {std::pow(10.0, -3 * power), kPrefixes.at(static_cast<std::size_t>(power + kPlain))};
}

std::string spaced(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '_' || c == '.'; }, ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// The path without its section.
std::string key_of(const std::string& path) {
  const std::size_t dot = path.find('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

const Ending* ending_of(const std::string& key) {
  static constexpr Ending kPartOfEnergy{"", "J", true};
  static constexpr Ending kPartOfArea{"", "mm2", false};
  if (key.starts_with("by_part.")) return &kPartOfEnergy;
  if (key.starts_with("area_mm2.")) return &kPartOfArea;
  const auto* const found = std::ranges::find_if(
      kEndings, [&](const Ending& ending) { return key.ends_with(ending.text); });
  return found == kEndings.end() ? nullptr : found;
}

/// "compute time" for time.compute_cycles: the rest of the key, then its section.
std::string label_of(const std::string& path) {
  const std::string key = key_of(path);
  const std::string section = key.size() == path.size() ? "" : path.substr(0, path.find('.'));
  const Ending* const ending = ending_of(key);
  if (ending == nullptr) return section == "plan" ? "plan's " + spaced(key) : spaced(key);
  const bool whole = ending->text.starts_with("max_");
  const std::string label = spaced(whole ? key : key.substr(0, key.size() - ending->text.size()));
  if (ending->text == "watts") return "power";
  if (key.starts_with("area_mm2.")) return "area of " + spaced(key.substr(key.find('.') + 1));
  if (ending->text == "flops_per_joule") return "efficiency";
  if (section == "prediction") {
    const bool energy = ending->text == "joules", area = ending->text == "area_mm2";
    const char* const metric = energy ? "energy" : area ? "area" : "time";
    return "predicted " + (label.empty() ? metric : label);
  }
  const bool named = section == "time" || section == "rate" || section == "memory" ||
                     section == "traffic" || section == "work" || section == "energy";
  if (label.empty()) return named ? section : spaced(key);
  return named && section != "work" ? label + " " + section : label;
}

}  // namespace

std::string Quantity::title() const {
  if (label.empty()) return unit;
  return unit.empty() ? label : fmt::format("{} ({})", label, unit);
}

Unit unit_of(const std::string& path) {
  if (path.starts_with("stalls.")) return {"context cycles", false};
  const Ending* const ending = ending_of(key_of(path));
  return ending == nullptr ? Unit{} : Unit{std::string(ending->unit), ending->prefixed};
}

Quantity quantity_of(const std::string& path, double largest) {
  const bool derived = is_derived(path);
  const Unit unit = derived ? unit_of_derived(path) : unit_of(path);
  const auto [scale, prefix] = unit.prefixed ? prefix_of(largest) : std::pair(1.0, std::string());
  return {derived ? label_of_derived(path) : label_of(path), prefix + unit.text, scale};
}

bool more_is_better(const std::string& path) {
  if (is_derived(path)) return derived_more_is_better(path);
  return path.starts_with("rate.") || path.find("per_second") != std::string::npos ||
         path.find("per_joule") != std::string::npos;
}

bool is_resource(const std::string& path) {
  constexpr std::array<std::string_view, 6> kEnds = {
      "tiles", "chips", "clock_ghz", "contexts", "bytes_per_cycle", "bytes_per_slot"};
  return path.starts_with("machine.") &&
         std::ranges::any_of(kEnds, [&](std::string_view end) { return path.ends_with(end); });
}

bool is_geometric(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.size() < 3 || sorted.front() <= 0) return false;
  // Measures how uneven the spacing is, to compare logarithms with the values.
  const auto unevenness = [&](auto place) {
    double least = place(sorted[1]) - place(sorted[0]), most = least;
    for (std::size_t i = 1; i + 1 < sorted.size(); ++i) {
      const double step = place(sorted[i + 1]) - place(sorted[i]);
      least = std::min(least, step);
      most = std::max(most, step);
    }
    return most / least;
  };
  return unevenness([](double value) { return std::log(value); }) <
         unevenness([](double value) { return value; });
}

}  // namespace tessera::plot
