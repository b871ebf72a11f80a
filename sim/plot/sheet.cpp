#include "sim/plot/sheet.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "sim/base/errors.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

constexpr double kPointsPerInch = 72;

struct LengthUnit {
  std::string_view name;
  double inches;
};

constexpr std::array kLengths = {LengthUnit{"in", 1.0}, LengthUnit{"mm", 1 / 25.4},
                                 LengthUnit{"cm", 1 / 2.54}, LengthUnit{"pt", 1 / kPointsPerInch}};

/// The number at a text's beginning, and the rest; 0 if there is none.
std::pair<double, std::string> number_and_rest(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return {read.ec == std::errc() ? value : 0, std::string(read.ptr, end)};
}

/// Counts UTF-8 characters, not bytes.
std::size_t count_letters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::string> broken(const std::string& text, const Sheet& sheet, double inches) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    at = space + 1;
    if (!lines.empty() && sheet.width_of(lines.back() + " " + word) <= inches) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace

// Width of a letter of DejaVu Sans, the widest of the usual fonts: 0.55 of the size on average.
double Sheet::letter() const { return 0.55 * size / kPointsPerInch; }
double Sheet::line() const { return 1.3 * size / kPointsPerInch; }

double Sheet::width_of(const std::string& text) const {
  return letter() * static_cast<double>(count_letters(text));
}

double Sheet::widest(std::span<const std::string> texts) const {
  double most = 0;
  for (const std::string& text : texts) most = std::max(most, width_of(text));
  return most;
}

bool Sheet::is_narrow() const { return width < 80 * letter(); }

unsigned Sheet::marks_across() const {
  constexpr double kLetters = 9;  // of a mark and its gap
  return std::clamp(static_cast<unsigned>(0.75 * width / (kLetters * letter())), 3U, 10U);
}

unsigned Sheet::marks_up() const {
  constexpr double kLines = 1.8;
  const double tall = height > 0 ? height : 0.6 * width;
  return std::clamp(static_cast<unsigned>(0.7 * tall / (kLines * line())), 3U, 10U);
}

double inches_of(const std::string& text, const std::string& option) {
  constexpr double kLeast = 1, kMost = 100;
  const auto [value, unit] = number_and_rest(text);
  for (const LengthUnit& each : kLengths) {
    const double inches = value * each.inches;
    if (each.name == unit && inches >= kLeast && inches <= kMost) return inches;
  }
  throw UserError(
      "tessera plot: {}: found {}, allowed {} to {} inches, for example 3.3in, 84mm, "
      "8.4cm or 240pt",
      option, text, kLeast, kMost);
}

double points_of(const std::string& text, const std::string& option) {
  constexpr double kLeast = 4, kMost = 72;
  const auto [value, unit] = number_and_rest(text);
  if ((unit.empty() || unit == "pt") && value >= kLeast && value <= kMost) return value;
  throw UserError("tessera plot: {}: found {}, allowed {} to {} points, for example 8", option,
                  text, kLeast, kMost);
}

std::string wrapped(const std::string& text, const Sheet& sheet, double inches) {
  std::string out;
  for (const std::string& line : broken(text, sheet, inches)) {
    out += (out.empty() ? "" : ".\"\\n\".") + literal(line);
  }
  return out;
}

std::size_t lines_of(const std::string& text, const Sheet& sheet, double inches) {
  return text.empty() ? 0 : broken(text, sheet, inches).size();
}

}  // namespace tessera::plot
