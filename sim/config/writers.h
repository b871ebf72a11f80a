#pragma once

#include <string>

#include "sim/config/fields.h"
#include "sim/config/json_text.h"

/// Further visitors of the fields' declarations: the resolved config, the JSON Schema and the
/// documentation. They never change the values.
namespace tessera::config {

/// All fields with values, defaults included; leaves out groups and files that are not given.
Json resolved(const Members& members);

/// The JSON Schema of an object with exactly these fields (and "//" notes).
Json schema(const Members& members);

/// One Markdown table row per field, keys below `prefix`: key, default, unit, range, sentence.
std::string markdown(const Members& members, const std::string& prefix);

/// A struct that has its own `describe`.
template <class Struct>
concept Described = requires(Fields& fields, Struct& value) {
  describe(fields, value);
};

template <Described Struct>
Json resolved(Struct value) {
  return resolved([&value](Fields& fields) { describe(fields, value); });
}
template <Described Struct>
Json schema(Struct defaults) {
  return schema([&defaults](Fields& fields) { describe(fields, defaults); });
}
template <Described Struct>
std::string markdown(Struct defaults, const std::string& prefix) {
  return markdown([&defaults](Fields& fields) { describe(fields, defaults); }, prefix);
}

}  // namespace tessera::config
