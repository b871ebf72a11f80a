#include "sim/plot/best.h"

#include <map>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/config/nearest.h"
#include "sim/plot/quantity.h"

namespace tessera::plot {

Rows best_over(const Rows& rows, std::span<const std::string> over, const std::string& y) {
  require_path(rows, y, "--y", true);
  Rows best{rows.origin, rows.axes, {}, rows.left_out};
  for (const std::string& path : over) {
    if (std::erase(best.axes, path) > 0) continue;
    throw UserError(fmt::format("{}: --best: found {}, allowed an axis ({}){}", rows.origin, path,
                                fmt::join(rows.axes, ", "), config::did_you_mean(path, rows.axes)));
  }
  const bool more = more_is_better(y);
  std::map<std::string, std::size_t> places;  // of the best so far, by its other axes
  for (const Row& row : rows.rows) {
    const auto value = number(row, y);
    if (!value) continue;
    Json others = Json::array();
    for (const std::string& path : best.axes) {
      const Json* const at = find(row, path);
      others.push_back(at == nullptr ? Json() : *at);
    }
    const auto [place, first] = places.try_emplace(others.dump(), best.rows.size());
    if (first) {
      best.rows.push_back(row);
      continue;
    }
    Row& known = best.rows[place->second];
    const double its = *number(known, y);
    if (more ? *value > its : *value < its) known = row;
  }
  return best;
}

}  // namespace tessera::plot
