#include "sim/config/writers.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/key_path.h"

namespace tessera::config {
namespace {

// A field's value as JSON.
template <class Kind>
Json value_of(const Field& /*info*/, const Kind& kind) {
  return kind.value;
}
/// Null if absent; the field's word for 0 if it has one.
Json value_of(const Field& info, const Number& number) {
  if (std::isnan(number.value)) return nullptr;
  return number.value == 0 && !info.zero.empty() ? Json(info.zero) : Json(number.value);
}
Json value_of(const Field& /*info*/, const Group& group) { return resolved(group.members); }
Json value_of(const Field& /*info*/, const List& list) {
  Json values = Json::array();
  for (std::size_t i = 0; i < list.size; ++i)
    values.push_back(resolved([&](Fields& inner) { list.element(i, inner); }));
  return values;
}

bool is_given(const Held& held) {
  if (const auto* const group = std::get_if<Group>(&held))
    return group->present == nullptr || *group->present;
  const auto* const file = std::get_if<File>(&held);
  return file == nullptr || !file->value.empty();
}

/// The first struct of a list, or a default one.
Members first_of(const List& list) {
  return [&list](Fields& inner) {
    list.resize(std::max<std::size_t>(list.size, 1));
    list.element(0, inner);
    list.resize(list.size);
  };
}

// A field's type as JSON Schema.
Json list_of_type(Json type) { return {{"type", "array"}, {"items", std::move(type)}}; }
Json type_of(const Field& /*info*/, const Flag& /*flag*/) { return {{"type", "boolean"}}; }
Json type_of(const Field& /*info*/, const Integer& integer) {
  const Range<std::uint64_t>& range = integer.range;
  if (!range.among.empty())
    return {{"type", "integer"},
            {"enum", std::vector<std::uint64_t>(range.among.begin(), range.among.end())}};
  Json type = {{"type", "integer"}, {"minimum", range.low}};
  if (range.high < std::numeric_limits<std::uint64_t>::max()) type["maximum"] = range.high;
  return type;
}
Json type_of(const Field& info, const Number& number) {
  Json type = {{"type", "number"}};
  const Range<double>& range = number.range;
  if (range.low > std::numeric_limits<double>::lowest()) type["minimum"] = range.low;
  if (range.high < std::numeric_limits<double>::max()) type["maximum"] = range.high;
  if (info.zero.empty()) return type;
  return {{"anyOf", Json::array({std::move(type), Json{{"const", info.zero}}})}};
}
Json type_of(const Field& /*info*/, const Text& /*text*/) { return {{"type", "string"}}; }
Json type_of(const Field& /*info*/, const File& /*file*/) { return {{"type", "string"}}; }
Json type_of(const Field& /*info*/, const Choice& choice) {
  return {{"enum", std::vector<std::string>(choice.allowed.begin(), choice.allowed.end())}};
}
Json type_of(const Field& info, const Integers& integers) {
  std::uint64_t any = 0;
  return list_of_type(type_of(info, Integer{any, {integers.range.low, integers.range.high}}));
}
Json type_of(const Field& /*info*/, const Numbers& /*numbers*/) {
  return list_of_type({{"type", "number"}});
}
Json type_of(const Field& /*info*/, const Texts& /*texts*/) {
  return list_of_type({{"type", "string"}});
}
Json type_of(const Field& /*info*/, const AnyObject& /*object*/) { return {{"type", "object"}}; }
Json type_of(const Field& /*info*/, const AnyList& /*list*/) { return {{"type", "array"}}; }
Json type_of(const Field& /*info*/, const Group& group) { return schema(group.members); }
Json type_of(const Field& /*info*/, const List& list) {
  return list_of_type(schema(first_of(list)));
}

/// Also allows null, which cancels the value of a lower layer.
void allow_null(Json& type) {
  if (type.contains("type")) type["type"] = {type["type"], "null"};
  if (type.contains("enum")) type["enum"].push_back(nullptr);
  if (type.contains("anyOf")) type["anyOf"].push_back({{"type", "null"}});
}

template <class Number>
std::string bounds(Range<Number> range) {
  if (!range.among.empty()) return fmt::format("{}", fmt::join(range.among, ", "));
  const bool low = range.low > std::numeric_limits<Number>::lowest();
  const bool high = range.high < std::numeric_limits<Number>::max();
  if (low && high) return fmt::format("{} to {}", range.low, range.high);
  if (low) return fmt::format("{} and up", range.low);
  return high ? fmt::format("up to {}", range.high) : "any";
}

// A field's allowed values as text.
template <class Kind>
std::string allowed(const Field& /*info*/, const Kind& /*kind*/) {
  return "";
}
std::string allowed(const Field& /*info*/, const Flag& /*flag*/) { return "true, false"; }
std::string allowed(const Field& /*info*/, const Integer& integer) { return bounds(integer.range); }
std::string allowed(const Field& info, const Number& number) {
  std::string text = bounds(number.range);
  if (!info.zero.empty()) text += fmt::format(", or {}", info.zero);
  return std::isnan(number.value) ? text + ", or null" : text;
}
std::string allowed(const Field& /*info*/, const Text& /*text*/) { return "a text"; }
std::string allowed(const Field& /*info*/, const File& /*file*/) { return "a file"; }
std::string allowed(const Field& /*info*/, const Choice& choice) {
  return fmt::format("{}", fmt::join(choice.allowed, ", "));
}
std::string allowed(const Field& /*info*/, const Integers& integers) {
  return "a list of " + bounds(integers.range);
}

}  // namespace

Json resolved(const Members& members) {
  Json values = Json::object();
  const auto unread = each_member(members, [&](const Field& info, const Held& held) {
    if (!info.unused_with.empty() || !is_given(held)) return;
    values[std::string(info.key)] =
        std::visit([&](const auto& kind) { return value_of(info, kind); }, held);
  });
  for (const std::string& key : unread) values.erase(key);
  return values;
}

Json schema(const Members& members) {
  Json properties = Json::object(), required = Json::array();
  each_member(members, [&](const Field& info, const Held& held) {
    Json& type = properties[std::string(info.key)] =
        std::visit([&](const auto& kind) { return type_of(info, kind); }, held);
    const bool group = std::holds_alternative<Group>(held);
    type["description"] = info.unit.empty() ? std::string(info.sentence)
                                            : fmt::format("{} [{}]", info.sentence, info.unit);
    if (info.required) required.push_back(info.key);
    if (!info.required) allow_null(type);
    if (info.required || group) return;
    type["default"] =
        std::holds_alternative<List>(held)
            ? Json::array()
            : std::visit([&](const auto& kind) { return value_of(info, kind); }, held);
  });
  Json object = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) object["required"] = std::move(required);
  object["patternProperties"] = {{"^//", Json::object()}};
  object["additionalProperties"] = false;
  return object;
}

std::string markdown(const Members& members, const std::string& prefix) {
  std::string rows;
  each_member(members, [&](const Field& info, const Held& held) {
    std::string path = join(prefix, info.key);
    const auto* const group = std::get_if<Group>(&held);
    const auto* const list = std::get_if<List>(&held);
    if (list != nullptr) path += "[]";
    if (group != nullptr || list != nullptr) {
      rows += fmt::format("| `{}` | | | {} |\n", path, info.sentence);
      rows += markdown(list != nullptr ? first_of(*list) : group->members, path);
      return;
    }
    const auto [value, range] = std::visit(
        [&](const auto& kind) { return std::pair(value_of(info, kind), allowed(info, kind)); },
        held);
    const std::string given = info.required ? "required" : fmt::format("`{}`", value.dump());
    rows +=
        fmt::format("| `{}` | {}{} | {} | {} |\n", path, given,
                    info.unit.empty() ? "" : fmt::format(" {}", info.unit), range, info.sentence);
  });
  return rows;
}

}  // namespace tessera::config
