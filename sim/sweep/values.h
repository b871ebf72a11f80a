#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/json_text.h"

/// Parses the values of a sweep's axis, as people write them.
namespace tessera::sweep {

using config::Json;

/// "16..4096*4", "0..10+2", "1..8", or for drawing "0.001..1 log".
struct Range {
  enum class Kind { plain, steps, factors, logarithmic };
  Kind kind = Kind::plain;
  double low = 0, high = 0;
  double by = 1;  ///< for steps and factors
  bool integers = true;

  /// All values, `high` included if it is hit; plain: every integer.
  [[nodiscard]] std::vector<Json> values() const;
  /// The value of a plain or logarithmic range at a fraction in [0, 1); reals have six digits.
  [[nodiscard]] Json at(double fraction) const;
};

/// Nullopt if the text is not a number followed by ".."; throws UserError, starting with `origin`,
/// for a malformed range.
std::optional<Range> parse_range(std::string_view text, const std::string& origin);

/// Comma-separated values and ranges; a value is JSON if it parses, else a text. Throws UserError
/// that starts with `origin`.
std::vector<Json> parse_values(std::string_view text, const std::string& origin);

}  // namespace tessera::sweep
