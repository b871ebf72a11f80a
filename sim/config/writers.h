#pragma once

#include <string>

#include "sim/config/fields.h"
#include "sim/config/json_text.h"

/// Other outputs of the fields' declarations: the resolved config, the JSON Schema and the
/// documentation. They read the values and never change them.
namespace tessera::config {

/// A field's value in JSON: null for an optional number that is absent (NaN), the word that stands
/// for 0 where there is one.
inline Json shown_number(const Field& info, double value) {
  if (std::isnan(value)) return nullptr;
  return value == 0 && !info.zero.empty() ? Json(info.zero) : Json(value);
}

/// Every field with its value, defaults included; groups that are not given are left out.
Json resolved(const std::function<void(Fields&)>& members);

/// The JSON Schema of an object with these fields and no others ("//" notes apart).
Json schema(const std::function<void(Fields&)>& members);

/// One Markdown table row a field, keys below `prefix`: key, default, unit, range, sentence.
std::string markdown(const std::function<void(Fields&)>& members, const std::string& prefix);

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
