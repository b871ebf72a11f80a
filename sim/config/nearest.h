#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Help for misspelled names.
namespace tessera::config {

/// Number of insertions, deletions, changes or swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`; empty if all need more than two edits and more than a third of
/// its letters. A candidate that begins with `name` (of three letters or more) counts as one edit.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

/// "; did you mean sram_kib?"; empty if no candidate is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

/// "bow, gc2, gc200"
std::string list_of(std::span<const std::string_view> names);

/// The names, and the one nearest to `name`: "bow, gc2, gc200; did you mean gc2?"
std::string names_near(std::string_view name, std::span<const std::string_view> names);

/// Views of `names`, for the functions above.
std::vector<std::string_view> views(std::span<const std::string> names);

inline std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  return did_you_mean(name, views(candidates));
}
inline std::string names_near(std::string_view name, std::span<const std::string> names) {
  return names_near(name, views(names));
}

}  // namespace tessera::config
