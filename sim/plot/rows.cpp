#include "sim/plot/rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

/// The number, text or truth value at a path; null for anything else.
const Json* at_dotted(const Json& root, const std::string& path) {
  const Json* const found = config::find_at(root, path);
  return found == nullptr || found->is_structured() || found->is_null() ? nullptr : found;
}

/// True if a condition's text equals the value.
bool equals(const Json& value, const std::string& wanted) {
  if (value.is_string()) return value.get<std::string>() == wanted;
  const Json given = Json::parse(wanted, nullptr, false);
  if (given.is_number() && value.is_number()) return given.get<double>() == value.get<double>();
  return given == value || (value.is_number() && text(value.get<double>()) == wanted);
}

struct Condition {
  std::string path, value;
};

Condition parse_condition(const std::string& given) {
  const std::size_t equals_sign = given.find('=');
  if (equals_sign == std::string::npos || equals_sign == 0) {
    throw UserError("tessera plot: found {}, allowed path=value, for example workload.block=16",
                    given);
  }
  return {given.substr(0, equals_sign), given.substr(equals_sign + 1)};
}

/// All paths with a value in a row.
std::vector<std::string> paths_of(const Row& row) {
  std::vector<std::string> paths;
  for (const auto& [path, value] : row.axes.items()) paths.push_back(path);
  for (const auto& [path, cell] : sweep::cells_of(row.report)) paths.push_back(path);
  if (row.report.contains("config")) {
    for (const auto& [path, cell] : sweep::cells_of(row.report.at("config"))) paths.push_back(path);
  }
  return paths;
}

}  // namespace

Rows Rows::where(std::span<const std::string> conditions) const {
  Rows kept = *this;
  for (const std::string& given : conditions) {
    const Condition condition = parse_condition(given);
    require_path(kept, condition.path, given, false);
    const auto differs = [&](const Row& row) {
      const Json* value = find(row, condition.path);
      return value == nullptr || !equals(*value, condition.value);
    };
    // Points without a report cannot tell config values that all points share.
    const bool shared = std::ranges::none_of(kept.rows, differs);
    std::erase_if(kept.rows, differs);
    std::erase_if(kept.left_out, [&](const Row& row) {
      return find(row, condition.path) == nullptr && !row.axes.contains(condition.path)
                 ? !shared
                 : differs(row);
    });
    if (!kept.rows.empty()) continue;
    if (!kept.left_out.empty())
      throw UserError("{}: {}: no point with this value has a correct result: {}", origin, given,
                      left_out_text(kept.left_out));
    std::vector<std::string> known;
    for (const Row& row : rows) add_once(known, text(row, condition.path));
    throw UserError("{}: {}: no point has this value, allowed {}", origin, given,
                    fmt::join(known, ", "));
  }
  return kept;
}

const Json* find(const Row& row, const std::string& path) {
  const auto axis = row.axes.find(path);
  if (axis != row.axes.end()) return axis->is_null() ? nullptr : &*axis;
  if (const Json* value = at_dotted(row.report, path)) return value;
  const auto config = row.report.find("config");
  return config == row.report.end() ? nullptr : at_dotted(*config, path);
}

std::optional<double> number(const Row& row, const std::string& path) {
  const Json* value = find(row, path);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::string text(double value) {
  const double inverse = 1 / value;
  if (value > 0 && value < 1 && inverse == std::floor(inverse) && inverse <= 65536) {
    return fmt::format("1/{:.0f}", inverse);
  }
  return fmt::format("{:.6g}", value);
}

std::string text(const Row& row, const std::string& path) {
  const Json* value = find(row, path);
  if (value == nullptr) return "";
  if (value->is_number_integer()) return value->dump();
  if (value->is_number()) return text(value->get<double>());
  return value->is_string() ? value->get<std::string>() : value->dump();
}

void require_path(const Rows& rows, const std::string& path, const std::string& option,
                  bool as_number) {
  bool found = false;
  for (const Row& row : rows.rows) {
    const Json* value = find(row, path);
    if (value == nullptr) continue;
    found = true;
    if (as_number && !value->is_number()) {
      throw UserError("{}: {}: {}: found {}, allowed a number", rows.origin, option, path,
                      config::shown(*value));
    }
  }
  if (found) return;
  throw UserError(
      "{}: {}: no run has {}, allowed an axis ({}), or a key of report.json or of its "
      "section config{}",
      rows.origin, option, path, fmt::join(rows.axes, ", "),
      config::did_you_mean(path, paths_of(rows.rows.front())));
}

void require_paths(const Rows& rows, std::span<const std::string> paths, const std::string& option,
                   bool as_number) {
  for (const std::string& path : paths) require_path(rows, path, option, as_number);
}

}  // namespace tessera::plot
