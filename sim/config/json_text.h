#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "sim/base/errors.h"

/// JSON text to values: comments allowed; duplicate keys, trailing text, integers beyond 64 bits
/// and nesting deeper than 64 levels are errors.
namespace tessera::config {

using Json = nlohmann::ordered_json;

/// `file` only names the text in messages. Throws ConfigError with line and column, or the key
/// path.
Json parse_json(std::string_view text, const std::string& file);

/// Parses the text behind `path=`: JSON if it parses, else the text itself. Throws ConfigError for
/// JSON that is not one of ours (parse_json).
Json parse_value(std::string_view text, const std::string& origin);

/// A value as JSON without line feeds, whatever bytes its texts hold.
std::string one_line(const Json& value);

/// A value as messages show it: one line of JSON, cut after 60 characters.
std::string shown(const Json& value);

/// "an object", "a string", ... of the value's type.
std::string_view type_name(const Json& value);

/// Returns `use()`, which works on JSON that a command of ours has stored. Throws UserError that
/// names `where` if a value there has another type, or is missing.
template <class Use>
auto use_stored(const std::string& where, const Use& use) {
  try {
    return use();
  } catch (const Json::exception& error) {
    throw UserError("{}: is not as tessera wrote it: {}", where, error.what());
  }
}

/// The whole file; "-" is standard input. Throws UserError if it cannot be read.
std::string read_text(const std::string& file);

}  // namespace tessera::config
