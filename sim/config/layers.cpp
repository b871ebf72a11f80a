#include "sim/config/layers.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/ranges.h"
#include "sim/config/key_path.h"

namespace tessera::config {
namespace {

bool is_preset(std::string_view origin) { return origin.starts_with("preset "); }

bool has_word(std::string_view text, std::string_view word) {
  if (word.empty()) return false;
  const auto is_part = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if (!is_part(at - 1) && !is_part(at + word.size())) return true;
  return false;
}

/// The value at a path whose elements are given by index; null if there is none.
const Json* value_at(const Json& root, const std::string& path) {
  std::string pointer = "/" + path;
  std::erase(pointer, ']');
  std::ranges::replace_if(
      pointer, [](char c) { return c == '.' || c == '['; }, '/');
  const Json::json_pointer at(pointer);
  return root.contains(at) ? &root.at(at) : nullptr;
}

/// True if the text contains the last part of the path, or the value at it, if a string.
bool speaks_of(std::string_view text, const std::string& path, const Json& root) {
  if (has_word(text, path.substr(path.find_last_of(".[") + 1))) return true;
  const Json* const value = value_at(root, path);
  return value != nullptr && value->is_string() && has_word(text, value->get<std::string>());
}

std::string parent_of(const std::string& path) {
  const std::size_t cut = path.find_last_of(".[");
  return cut == std::string::npos ? "" : path.substr(0, cut);
}

}  // namespace

const std::string& Layers::origin(const std::string& path) const {
  for (std::string at = path; !at.empty(); at = parent_of(at)) {
    if (const auto found = origins_.find(at); found != origins_.end()) return found->second;
  }
  return root_;
}

ConfigError Layers::mistake(const std::string& path, const std::string& problem) const {
  const std::string& from = origin(path);
  const std::string& blame = blamed(path, problem);
  if (blame == from) return {blame, path, problem};
  const char* const whose =
      value_at(value_, path) != nullptr ? "{}; its value is {}'s" : "{}; {} gives none";
  return {blame, path, fmt::format(fmt::runtime(whose), problem, from)};
}

const std::string& Layers::blamed(const std::string& path, std::string_view problem) const {
  if (!is_preset(origin(path))) return origin(path);
  for (std::string at = path; !at.empty();) {
    at = parent_of(at);
    const std::string* nearest = nullptr;
    std::pair<bool, std::ptrdiff_t> most{};
    for (const auto& [key, from] : origins_) {
      if (!is_below(key, at) || is_preset(from)) continue;
      const std::pair rank{speaks_of(problem, key, value_), height(from)};
      // A value of another section has no part in it unless it is named.
      if ((at.empty() && !rank.first) || (nearest != nullptr && rank < most)) continue;
      nearest = &from;
      most = rank;
    }
    if (nearest != nullptr) return *nearest;
  }
  return root_;
}

std::ptrdiff_t Layers::height(const std::string& origin) const {
  return std::ranges::find(order_, origin) - order_.begin();
}

bool Layers::not_below(const std::string& path, const std::string& other) const {
  return height(origin(path)) >= height(origin(other));
}

std::string Layers::latest(const std::string& path) const {
  std::string last = path;
  for (const auto& [inner, from] : origins_) {
    if (!is_below(inner, path) || height(from) <= height(origin(last))) continue;
    const Json* const value = value_at(value_, inner);
    if (value == nullptr || !value->is_null()) last = inner;
  }
  return last;
}

/// Appends the origins of a higher layer; known origins keep their rank.
void Layers::lay_over(const std::vector<std::string>& order) {
  for (const std::string& from : order) {
    if (!contains(order_, from)) order_.push_back(from);
  }
}

Layers Layers::section(const std::string& key) const {
  Layers part(value_.contains(key) ? value_[key] : Json::object(), origin(key));
  part.order_ = order_;
  for (const auto& [path, from] : origins_) {
    if (is_below(path, key)) part.origins_[path.substr(key.size() + 1)] = from;
  }
  return part;
}

void Layers::replace_section(const std::string& key, const Layers& part) {
  value_[key] = part.value_;
  forget_below(key);
  origins_[key] = part.root_;
  const std::vector<std::string> above = std::exchange(order_, part.order_);
  lay_over(above);
  for (const auto& [path, from] : part.origins_) origins_[join(key, path)] = from;
}

void Layers::remove(const std::string& key) { value_.erase(key); }

void Layers::merge(const Layers& over) {
  merge_at(value_, over.value_, over, "");
  lay_over(over.order_);
}

void Layers::merge_at(Json& into, const Json& from, const Layers& over, const std::string& path) {
  if (!into.is_object() || !from.is_object()) {
    into = from;
    take_origins(over, path);
    return;
  }
  for (const auto& [key, value] : from.items()) {
    const std::string inner = join(path, key);
    if (into.contains(key)) {
      merge_at(into[key], value, over, inner);
    } else {
      into[key] = value;
      take_origins(over, inner);
    }
  }
}

void Layers::take_origins(const Layers& over, const std::string& path) {
  forget_below(path);
  if (path.empty()) {
    root_ = over.root_;
  } else {
    origins_[path] = over.origin(path);
  }
  for (const auto& [inner, from] : over.origins_) {
    if (is_below(inner, path)) origins_[inner] = from;
  }
}

void Layers::forget_below(const std::string& path) {
  std::erase_if(origins_, [&](const auto& entry) { return is_below(entry.first, path); });
}

void Layers::set(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string origin = "--set " + assignment;
  if (equals == std::string::npos || equals == 0) {
    throw UserError("{}: found no path=value; for example run.threads=2", origin);
  }
  set(assignment.substr(0, equals), parse_value(assignment.substr(equals + 1), origin), origin);
}

void Layers::set(const std::string& path, Json value, const std::string& origin) {
  set_or_wait(path, std::move(value), origin, true);
}

void Layers::set_waiting() {
  for (Set& each : std::exchange(waiting_, {}))
    set_or_wait(each.path, std::move(each.value), each.origin, false);
}

void Layers::set_or_wait(const std::string& path, Json value, const std::string& origin,
                         bool waits) {
  try {
    if (waits && path.starts_with("machine.") && misses_list(value_, path)) {
      waiting_.push_back({path, std::move(value), origin});
      return;
    }
    const std::string from = set_at(value_, path, value);
    forget_below(from);
    origins_[from] = origin;
    machine_name_to_extends(*this);
    // Choosing a machine reapplies keys set before, except those it gives itself.
    const bool chosen = path == "machine" && !value.is_null();
    const auto below = [&](const Set& each) { return is_below(each.path, path); };
    const auto holds = [&](const Set& each) {
      return chosen && below(each) &&
             find_at(value, std::string_view(each.path).substr(path.size() + 1)) == nullptr;
    };
    std::erase_if(waiting_, [&](const Set& each) { return below(each) && !holds(each); });
    std::vector<Set> again;
    std::ranges::copy_if(laid_, std::back_inserter(again), holds);
    std::erase_if(laid_, [&](const Set& each) { return each.path == path || below(each); });
    laid_.push_back({path, std::move(value), origin});
    for (Set& each : again) set_or_wait(each.path, std::move(each.value), each.origin, waits);
  } catch (const UserError& error) {
    throw UserError("{}: {}", origin, error.what());
  }
}

}  // namespace tessera::config
