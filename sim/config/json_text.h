#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "sim/base/errors.h"

/// Parses JSON text: comments are allowed; duplicate keys, trailing text, integers beyond 64 bits
/// and nesting deeper than 64 levels are errors.
namespace tessera::config {

using Json = nlohmann::ordered_json;

/// `file` is used in messages only. Throws ConfigError with line and column, or with the key path.
Json parse_json(std::string_view text, const std::string& file);

/// Parses the text after `path=`: as JSON if it parses, else as a string. Throws ConfigError for
/// JSON that parse_json() refuses.
Json parse_value(std::string_view text, const std::string& origin);

/// A value as JSON on one line; invalid UTF-8 in its strings is replaced.
std::string one_line(const Json& value);

/// A value as shown in messages: one line of JSON, cut after 60 characters.
std::string shown(const Json& value);

/// The value's type as a word: "an object", "a string", ...
std::string_view type_name(const Json& value);

/// Returns `use()`, which works on JSON that a tessera command stored. Throws UserError that names
/// `where` if a value has the wrong type or is missing.
template <class Use>
auto use_stored(const std::string& where, const Use& use) {
  try {
    return use();
  } catch (const Json::exception& error) {
    throw UserError("{}: is not as tessera wrote it: {}", where, error.what());
  }
}

/// Reads the whole file; "-" is standard input. Throws UserError if it cannot be read.
std::string read_text(const std::string& file);

}  // namespace tessera::config
