#include "sim/config/key_path.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/sizes.h"
#include "sim/config/nearest.h"

namespace tessera::config {
namespace {

[[noreturn]] void bad_path(std::string_view text, std::size_t position, std::string_view expected) {
  throw UserError("{}: not a key path: {} expected at position {}; for example a[3].b", text,
                  expected, position + 1);
}

Step parse_element(std::string_view text, std::size_t& position) {
  const std::size_t begin = position + 1;
  const std::size_t end = std::min(text.find_first_of("[].", begin), text.size());
  if (end == begin) bad_path(text, begin, "a number or name of an element");
  if (end == text.size() || text[end] != ']') bad_path(text, end, "]");
  const std::string_view inside = text.substr(begin, end - begin);
  position = end + 1;
  if (const auto element = number_in<std::size_t>(inside)) return *element;
  return ElementName{std::string(inside)};
}

Json& descend(Json& at, const std::string& key, const std::string& path) {
  if (at.is_null()) at = Json::object();
  if (!at.is_object()) {
    throw UserError("{} is {}, not an object: it has no key {}", path.empty() ? "the config" : path,
                    shown(at), key);
  }
  return at[key];
}

void require_list(const Json& at, const std::string& element, const std::string& path) {
  if (at.is_array()) return;
  throw UserError(at.is_null()
                      ? fmt::format("{} is not given: it has no element [{}]", path, element)
                      : fmt::format("{} is {}, not a list: it has no element [{}]",
                                    path.empty() ? "the config" : path, shown(at), element));
}

template <class Element>
Json& descend(Json& at, const Element& element, const std::string& path) {
  return at[element_of(at, element, path)];
}

std::string name_of(const Json& element) {
  return element.is_object() && element.contains("name") && element["name"].is_string()
             ? element["name"].get<std::string>()
             : std::string();
}

}  // namespace

std::vector<Step> parse_key_path(std::string_view text) {
  std::vector<Step> steps;
  std::size_t position = 0;
  while (position < text.size()) {
    if (text[position] == '[' && !steps.empty()) {
      steps.push_back(parse_element(text, position));
    } else {
      if (!steps.empty() && text[position++] != '.') bad_path(text, position - 1, ". or [");
      const std::size_t end = std::min(text.find_first_of(".[]", position), text.size());
      if (end == position) bad_path(text, position, "a key");
      steps.emplace_back(std::string(text.substr(position, end - position)));
      position = end;
    }
  }
  if (steps.empty()) bad_path(text, 0, "a key");
  return steps;
}

std::string join(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string join(const std::string& path, std::size_t element) {
  return fmt::format("{}[{}]", path, element);
}

std::string join(const std::string& path, const ElementName& element) {
  return fmt::format("{}[{}]", path, element.name);
}

bool is_below(std::string_view path, std::string_view parent) {
  return path.size() > parent.size() && path.starts_with(parent) &&
         (parent.empty() || path[parent.size()] == '.' || path[parent.size()] == '[');
}

std::size_t element_of(const Json& list, std::size_t element, const std::string& path) {
  require_list(list, std::to_string(element), path);
  if (element < list.size()) return element;
  throw UserError("{} has {}: there is no [{}]", path, counted(list.size(), "element"), element);
}

std::size_t element_of(const Json& list, const ElementName& element, const std::string& path) {
  require_list(list, element.name, path);
  std::vector<std::string> names;
  for (const Json& each : list) {
    names.push_back(name_of(each));
    if (names.back() == element.name) return names.size() - 1;
  }
  std::erase(names, std::string());
  if (list.empty()) throw UserError("{} has no elements: there is no [{}]", path, element.name);
  if (names.empty())
    throw UserError("{} has elements without names: found [{}], allowed [0] to [{}]", path,
                    element.name, list.size() - 1);
  throw UserError("{} has no element named {}, allowed {}", path, element.name,
                  names_near(element.name, names));
}

const Json* find_at(const Json& root, std::string_view path) {
  const Json* at = &root;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    if (!at->is_object()) return nullptr;
    const auto found = at->find(path.substr(0, dot));
    if (found == at->end()) return nullptr;
    at = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

std::string set_at(Json& root, std::string_view path, Json value) {
  Json* at = &root;
  std::string done;
  std::string created;
  for (const Step& step : parse_key_path(path)) {
    std::visit(
        [&](const auto& part) {
          const std::size_t before = at->size();
          Json& inner = descend(*at, part, done);
          if (at->is_array())
            done = join(done, static_cast<std::size_t>(&inner - &at->front()));
          else
            done = join(done, part);
          if (created.empty() && at->size() != before) created = done;
          at = &inner;
        },
        step);
  }
  *at = std::move(value);
  return created.empty() ? done : created;
}

namespace {

/// The value of `key`; null if there is none.
const Json& value_of(const Json& object, const std::string& key) {
  static const Json kNothing;
  return object.is_object() && object.contains(key) ? object.at(key) : kNothing;
}

}  // namespace

std::string numbered(const Json& root, std::string_view path) {
  if (path.find('[') == std::string_view::npos) return std::string(path);
  const Json* at = &root;
  std::string done;
  for (const Step& step : parse_key_path(path)) {
    if (const auto* key = std::get_if<std::string>(&step)) {
      at = &value_of(*at, *key);
      done = join(done, *key);
      continue;
    }
    const auto* number = std::get_if<std::size_t>(&step);
    const std::size_t element = number != nullptr
                                    ? element_of(*at, *number, done)
                                    : element_of(*at, std::get<ElementName>(step), done);
    at = &at->at(element);
    done = join(done, element);
  }
  return done;
}

std::string named(const Json& root, std::string_view path) {
  if (path.find('[') == std::string_view::npos) return std::string(path);
  const Json* at = &root;
  std::string done;
  for (const Step& step : parse_key_path(numbered(root, path))) {
    if (const auto* key = std::get_if<std::string>(&step)) {
      at = &value_of(*at, *key);
      done = join(done, *key);
      continue;
    }
    const std::size_t element = std::get<std::size_t>(step);
    const ElementName name{name_of(at->at(element))};
    const bool is_plain = !name.name.empty() && !number_in<std::size_t>(name.name) &&
                          name.name.find_first_of("[].") == std::string::npos;
    const bool leads_there = is_plain && element_of(*at, name, done) == element;
    done = leads_there ? join(done, name) : join(done, element);
    at = &at->at(element);
  }
  return done;
}

void refuse_same_keys(const Json& root, std::span<const std::string> paths) {
  std::map<std::string, std::string> known;
  for (const std::string& path : paths) {
    const auto [other, is_new] = known.try_emplace(numbered(root, path), path);
    if (!is_new)
      throw UserError(
          "{}: found {} beside it, which is the same key; allowed one of "
          "them",
          path, other->second);
  }
}

bool misses_list(const Json& root, std::string_view path) {
  const Json* at = &root;
  for (const Step& step : parse_key_path(path)) {
    const auto* key = std::get_if<std::string>(&step);
    if (key == nullptr) return at->is_null();
    at = &value_of(*at, *key);
    if (!at->is_null() && !at->is_object()) return false;
  }
  return false;
}

}  // namespace tessera::config
