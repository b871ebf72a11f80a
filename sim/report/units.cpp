#include "sim/report/units.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tessera::report {

std::string grouped(std::uint64_t value) {
  std::string text = fmt::format("{}", value);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string scaled(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const std::string number =
      prefix == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  return fmt::format("{} {}{}", number, kPrefixes[prefix], unit);
}

std::string scaled_down(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"", "m", "u", "n", "p"};
  std::size_t prefix = 0;
  while (value != 0 && value < 0.9995 && prefix + 1 < kPrefixes.size()) {
    value *= 1000;
    ++prefix;
  }
  return fmt::format("{:.3g} {}{}", value, kPrefixes[prefix], unit);
}

std::string seconds(double value) {
  if (value >= 1) return fmt::format("{:.3f} s", value);
  if (value >= 1e-3) return fmt::format("{:.3f} ms", value * 1e3);
  return fmt::format("{:.3f} us", value * 1e6);
}

std::string bar(double share) {
  constexpr double kColumns = 40;
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kColumns));
  return std::string(filled, '#') + std::string(static_cast<std::size_t>(kColumns) - filled, '.');
}

}  // namespace tessera::report
