#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/config/json_text.h"

/// Paths into a config as in messages and `--set`: machine.tile.sram_kib, a[3].b, or a[load].b for
/// the list element whose "name" is load.
namespace tessera::config {

struct ElementName {
  std::string name;
};
using Step = std::variant<std::string, std::size_t, ElementName>;  ///< a key, an index or a name

/// Throws UserError if `text` is not a path; the message starts with `text` and gives the position.
std::vector<Step> parse_key_path(std::string_view text);

/// `path` followed by a key, an index or a name.
std::string join(const std::string& path, std::string_view key);
std::string join(const std::string& path, std::size_t element);
std::string join(const std::string& path, const ElementName& element);

/// True if `path` lies strictly inside the value at `parent`; an empty `parent` is the root.
bool is_below(std::string_view path, std::string_view parent);

/// The index of an element of the list at `path`. Throws UserError that lists the existing ones.
std::size_t element_of(const Json& list, std::size_t element, const std::string& path);
std::size_t element_of(const Json& list, const ElementName& element, const std::string& path);

/// The value at a dotted path of keys; null if there is none.
const Json* find_at(const Json& root, std::string_view path);

/// Puts `value` at `path` in `root`, creating objects on the way. Throws UserError with the place
/// if the path leads through a non-object or past the end of a list. Returns the path of the
/// outermost part that is new, or else `path`; elements by index.
std::string set_at(Json& root, std::string_view path, Json value);

/// `path` with elements given by index instead of name. Throws UserError as element_of().
std::string numbered(const Json& root, std::string_view path);
/// `path` with elements given by name where they have one. Throws UserError as element_of().
std::string named(const Json& root, std::string_view path);
/// Throws UserError if two of the paths name the same key.
void refuse_same_keys(const Json& root, std::span<const std::string> paths);

/// True if `path` leads through a list that `root` does not have.
bool misses_list(const Json& root, std::string_view path);

}  // namespace tessera::config
