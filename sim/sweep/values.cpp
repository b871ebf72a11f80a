#include "sim/sweep/values.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::sweep {
namespace {

/// Parses a number at the text's beginning and removes it.
std::optional<double> take_number(std::string_view& text, bool& integers) {
  double number = 0;
  // "1..8": the dots are not part of the number.
  const std::string_view candidate = text.substr(0, text.find(".."));
  const auto [end, error] =
      std::from_chars(candidate.data(), candidate.data() + candidate.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const auto length = static_cast<std::size_t>(end - candidate.data());
  constexpr double kExact = 9007199254740992;  // 2^53
  integers &= candidate.substr(0, length).find_first_of(".eE") == std::string_view::npos &&
              std::abs(number) <= kExact;
  text.remove_prefix(length);
  return number;
}

/// Rounds away errors of the arithmetic: 0.1 + 0.2 becomes 0.3.
double rounded(double number, int digits) {
  return std::stod(fmt::format("{:.{}g}", number, digits));
}

Json number(double value, bool integer) {
  if (integer) return static_cast<std::int64_t>(std::llround(value));
  return rounded(value, 15);
}

void check_range(const Range& range, const std::string& where) {
  const bool by_factors = range.kind == Range::Kind::factors;
  if (range.high < range.low) {
    throw UserError("{}: the end is below the beginning", where);
  }
  if ((by_factors || range.kind == Range::Kind::logarithmic) && range.low <= 0) {
    throw UserError("{}: found a beginning of {}, allowed above 0", where, range.low);
  }
  const double least = by_factors ? 1 : 0;
  if (range.by <= least) {
    throw UserError("{}: found {}{}, allowed above {}", where, by_factors ? '*' : '+', range.by,
                    least);
  }
}

/// Throws UserError if the range's values cannot all be listed.
void check_listable(const Range& range, const std::string& where) {
  if (range.kind == Range::Kind::logarithmic) {
    throw UserError("{}: log is for sweep.random", where);
  }
  if (range.kind == Range::Kind::plain && !range.integers) {
    throw UserError("{}: a range of reals needs a +STEP or *FACTOR", where);
  }
  constexpr double kMost = 1e6;
  const double steps = range.kind == Range::Kind::factors
                           ? std::log(range.high / range.low) / std::log(range.by)
                           : (range.high - range.low) / range.by;
  if (steps >= kMost) throw UserError("{}: more than {} values", where, kMost);
}

/// Splits at commas outside of lists, objects and quoted texts.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      ++depth;
    } else if (!quoted && (c == ']' || c == '}')) {
      --depth;
    } else if (c == ',' && !quoted && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace

std::vector<Json> Range::values() const {
  std::vector<Json> all;
  const double slack = kind == Kind::factors ? high * 1e-9 : by * 1e-9;
  for (std::size_t i = 0;; ++i) {
    const auto n = static_cast<double>(i);
    const double value = kind == Kind::factors ? low * std::pow(by, n) : low + by * n;
    if (value > high + slack) return all;
    all.push_back(number(value, integers));
  }
}

Json Range::at(double fraction) const {
  if (kind == Kind::logarithmic) {
    const double value = low * std::pow(high / low, fraction);
    return integers ? number(value, true) : Json(rounded(value, 6));
  }
  if (integers) return number(low + std::floor(fraction * (high - low + 1)), true);
  return rounded(low + fraction * (high - low), 6);
}

std::optional<Range> parse_range(std::string_view text, const std::string& origin) {
  Range range;
  std::string_view rest = text;
  const std::optional<double> low = take_number(rest, range.integers);
  if (!low || !rest.starts_with("..")) return std::nullopt;
  rest.remove_prefix(2);
  const std::string where = fmt::format("{}: {}", origin, text);
  const auto bad = [&] {
    return UserError("{}: not a range; allowed LOW..HIGH, LOW..HIGH+STEP, LOW..HIGH*FACTOR", where);
  };
  const std::optional<double> high = take_number(rest, range.integers);
  if (!high) throw bad();
  range.low = *low;
  range.high = *high;
  if (rest == " log") {
    range.kind = Range::Kind::logarithmic;
  } else if (!rest.empty()) {
    if (rest.front() != '*' && rest.front() != '+') throw bad();
    range.kind = rest.front() == '*' ? Range::Kind::factors : Range::Kind::steps;
    rest.remove_prefix(1);
    const std::optional<double> by = take_number(rest, range.integers);
    if (!by || !rest.empty()) throw bad();
    range.by = *by;
  }
  check_range(range, where);
  return range;
}

std::vector<Json> parse_values(std::string_view text, const std::string& origin) {
  std::vector<Json> values;
  for (const std::string_view part : split(text)) {
    if (part.empty()) {
      throw UserError("{}: found an empty value, allowed values with a comma between", origin);
    }
    const std::optional<Range> range = parse_range(part, origin);
    if (!range) {
      values.push_back(config::parse_value(part, origin));
      continue;
    }
    check_listable(*range, fmt::format("{}: {}", origin, part));
    for (Json& value : range->values()) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace tessera::sweep
