#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/config/json_text.h"

/// Paths into a config as messages and `--set` write them: machine.tile.sram_kib, a[3].b.
namespace tessera::config {

using Step = std::variant<std::string, std::size_t>;  ///< a key or an index

/// Throws UserError if `text` is no path; the message starts with `text` and says where.
std::vector<Step> parse_key_path(std::string_view text);

/// `path` followed by a key or an index.
std::string join(const std::string& path, std::string_view key);
std::string join(const std::string& path, std::size_t element);

/// Puts `value` at `path` in `root`, creating objects on the way. Throws UserError, naming where,
/// if the path leads through something that is not an object or past the end of a list. Returns the
/// outermost path that is new: of the first object created, or `path` itself.
std::string set_at(Json& root, std::string_view path, Json value);

}  // namespace tessera::config
