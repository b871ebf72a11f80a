#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "sim/base/errors.h"

namespace tessera::test {

/// True if `text` contains `part`.
inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Checks that `text` contains each of the parts.
inline void check_holds(std::string_view text, std::initializer_list<std::string_view> parts) {
  CAPTURE(text);
  for (const std::string_view part : parts) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
}

/// The message of the `Expected` error (default: a user error) that `call` throws; "" if it throws
/// none.
template <class Expected = UserError, class Call>
std::string refusal(const Call& call) {
  try {
    static_cast<void>(call());
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

}  // namespace tessera::test
