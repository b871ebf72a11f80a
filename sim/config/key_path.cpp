#include "sim/config/key_path.h"

#include <charconv>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"

namespace tessera::config {
namespace {

[[noreturn]] void bad_path(std::string_view text, std::size_t position, std::string_view expected) {
  throw UserError(fmt::format("{}: not a key path: {} expected at position {}; for example a[3].b",
                              text, expected, position + 1));
}

std::size_t parse_index(std::string_view text, std::size_t& position) {
  std::size_t element = 0;
  const char* const begin = text.data() + position + 1;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), element);
  if (error != std::errc() || end == begin) bad_path(text, position + 1, "an index");
  position = static_cast<std::size_t>(end - text.data());
  if (position == text.size() || text[position] != ']') bad_path(text, position, "]");
  ++position;
  return element;
}

Json& descend(Json& at, const std::string& key, const std::string& path) {
  if (at.is_null()) at = Json::object();
  if (!at.is_object()) {
    throw UserError(fmt::format("{} is {}, not an object: it has no key {}",
                                path.empty() ? "the config" : path, shown(at), key));
  }
  return at[key];
}

Json& descend(Json& at, std::size_t element, const std::string& path) {
  if (at.is_null()) {
    throw UserError(fmt::format("{} is not given: it has no element [{}]", path, element));
  }
  if (!at.is_array()) {
    throw UserError(fmt::format("{} is {}, not a list: it has no element [{}]",
                                path.empty() ? "the config" : path, shown(at), element));
  }
  if (element >= at.size()) {
    throw UserError(
        fmt::format("{} has {}: there is no [{}]", path, counted(at.size(), "element"), element));
  }
  return at[element];
}

}  // namespace

std::vector<Step> parse_key_path(std::string_view text) {
  std::vector<Step> steps;
  std::size_t position = 0;
  while (position < text.size()) {
    if (text[position] == '[' && !steps.empty()) {
      steps.emplace_back(parse_index(text, position));
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

std::string set_at(Json& root, std::string_view path, Json value) {
  Json* at = &root;
  std::string done;
  std::string created;
  for (const Step& step : parse_key_path(path)) {
    std::visit(
        [&](const auto& part) {
          const std::size_t before = at->size();
          Json& inner = descend(*at, part, done);
          done = join(done, part);
          if (created.empty() && at->size() != before) created = done;
          at = &inner;
        },
        step);
  }
  *at = std::move(value);
  return created.empty() ? done : created;
}

}  // namespace tessera::config
