#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/config/json_text.h"

/// Paths into a config as messages and `--set` write them: machine.tile.sram_kib, a[3].b, or
/// a[load].b for the element of a list whose "name" is load.
namespace tessera::config {

struct ElementName {
  std::string name;
};
using Step = std::variant<std::string, std::size_t, ElementName>;  ///< a key, an index or a name

/// Throws UserError if `text` is no path; the message starts with `text` and says where.
std::vector<Step> parse_key_path(std::string_view text);

/// `path` followed by a key, an index or a name.
std::string join(const std::string& path, std::string_view key);
std::string join(const std::string& path, std::size_t element);
std::string join(const std::string& path, const ElementName& element);

/// True if `path` leads to something inside the value at `parent`; an empty `parent` is the root.
bool is_below(std::string_view path, std::string_view parent);

/// The number of an element of a list at `path`. Throws UserError, naming those that there are.
std::size_t element_of(const Json& list, std::size_t element, const std::string& path);
std::size_t element_of(const Json& list, const ElementName& element, const std::string& path);

/// The value at a path of keys with dots between; null if there is none.
const Json* find_at(const Json& root, std::string_view path);

/// Puts `value` at `path` in `root`, creating objects on the way. Throws UserError, naming where,
/// if the path leads through something that is not an object or past the end of a list. Returns the
/// outermost path that is new, of the first object created, or `path` itself; with numbers of
/// elements.
std::string set_at(Json& root, std::string_view path, Json value);

/// `path` with numbers in place of names of elements. Throws UserError as element_of.
std::string numbered(const Json& root, std::string_view path);
/// `path` with names in place of numbers of elements that have one. Throws UserError as element_of.
std::string named(const Json& root, std::string_view path);
/// Throws UserError if two of the paths lead to one key.
void refuse_same_keys(const Json& root, std::span<const std::string> paths);

/// True if `path` leads through a list that `root` does not have.
bool misses_list(const Json& root, std::string_view path);

}  // namespace tessera::config
