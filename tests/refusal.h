#pragma once

#include <string>
#include <string_view>

#include "sim/base/errors.h"

namespace tessera::test {

/// True if `part` stands somewhere in `text`.
inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The message of the error that `call` ends with, of the users' mistakes if no other is named; ""
/// if it ends without one.
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
