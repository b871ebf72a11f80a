#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/ranges.h"
#include "sim/plot/bar_groups.h"
#include "sim/plot/parts.h"

namespace tessera::plot {

std::vector<std::string> parts_of_section(const Rows& rows, const std::string& section) {
  const Json* found = &rows.rows.front().report;
  for (std::string_view left = section; found != nullptr && !left.empty();) {
    const std::string key(left.substr(0, left.find('.')));
    left.remove_prefix(std::min(key.size() + 1, left.size()));
    found = found->contains(key) ? &found->at(key) : nullptr;
  }
  std::vector<std::string> paths;
  if (found == nullptr || !found->is_object()) return paths;
  for (const auto& [key, value] : found->items()) {
    const bool part = section != "time" || key.ends_with("_cycles");
    const std::string path = fmt::format("{}.{}", section, key);
    const bool used = std::ranges::any_of(
        rows.rows, [&](const Row& row) { return number(row, path).value_or(0) != 0; });
    if (part && value.is_number() && used) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> stacked_paths(const Rows& rows, const std::vector<std::string>& y) {
  std::vector<std::string> paths;
  for (const std::string& path : y) {
    const std::vector<std::string> inner = parts_of_section(rows, path);
    if (inner.empty()) require_path(rows, path, "--y", true);
    paths.insert(paths.end(), inner.begin(), inner.end());
    if (inner.empty()) paths.push_back(path);
  }
  return paths;
}

std::vector<BarPart> looks_of(const std::vector<std::string>& paths) {
  return mapped(paths, look_of_part);
}

std::string section_of(const std::string& path) { return path.substr(0, path.find('.')); }

}  // namespace tessera::plot
