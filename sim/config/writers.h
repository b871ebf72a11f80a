#pragma once

#include <string>

#include "sim/config/fields.h"
#include "sim/config/json_text.h"

/// Other outputs of the fields' declarations: the resolved config, the JSON Schema and the
/// documentation. They read the values and never change them.
namespace tessera::config {

/// Every field with its value, defaults included; groups and files that are not given are left out.
Json resolved(const Members& members);

/// The JSON Schema of an object with these fields and no others ("//" notes apart).
Json schema(const Members& members);

/// One Markdown table row a field, keys below `prefix`: key, default, unit, range, sentence.
std::string markdown(const Members& members, const std::string& prefix);

/// Writes a struct that has its own `describe`.
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
