#include "sim/plot/sweep_page.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <vector>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/data/read_file.h"
#include "sim/plot/quantity.h"
#include "sim/plot/rows.h"
#include "sim/report/page.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

namespace fs = std::filesystem;

fs::path table_of(const std::string& folder) { return fs::path(folder) / "results.jsonl"; }

/// A number of each point, null if it has none; null altogether if it is equal for all.
Json column(const std::vector<Row>& rows, const std::string& path) {
  Json values = Json::array();
  std::set<double> different;
  for (const Row& row : rows) {
    const auto value = number(row, path);
    values.push_back(value ? Json(*value) : Json());
    if (value) different.insert(*value);
  }
  const bool shown = different.size() > 1 || path == "time.cycles" || path == "time.seconds";
  if (!shown || different.empty()) return {};
  const Unit unit = unit_of(path);
  return {{"path", path},
          {"label", quantity_of(path, 0).label},
          {"unit", unit.text},
          {"prefixed", unit.prefixed},
          {"more", more_is_better(path)},
          {"values", values}};
}

Json point_json(const Json& point) {
  const Json& report = point.at("report");
  const std::string text = report.is_null() ? "" : report.dump();
  return {{"axes", point.at("axes")},
          {"status", point.at("status")},
          {"error", point.contains("error") ? point.at("error") : Json()},
          {"report", report.is_null()
                         ? Json()
                         : Json(report::pack_bytes(std::span(
                               reinterpret_cast<const std::uint8_t*>(text.data()), text.size())))}};
}

}  // namespace

Json sweep_data(const std::string& folder) {
  const std::vector<Json> points = read_points(table_of(folder), {"axes", "status", "report"});
  if (points.empty()) throw UserError(folder + ": found no point there");
  std::vector<std::string> axes, paths;
  std::vector<Row> rows;
  Json packed = Json::array();
  for (const Json& point : points) {
    for (const auto& [path, value] : point.at("axes").items()) add_once(axes, path);
    // A wrong result's numbers are treated like no result.
    const bool done = sweep::has_numbers(point.at("status"));
    rows.push_back({point.at("axes"), done ? point.at("report") : Json::object()});
    packed.push_back(point_json(point));
  }
  for (const Row& row : rows) {
    for (const auto& [path, cell] : sweep::cells_of(row.report)) add_once(paths, path);
  }
  Json columns = Json::array();
  for (const std::string& path : paths) {
    Json found = column(rows, path);
    if (!found.is_null()) columns.push_back(std::move(found));
  }
  return {{"folder", folder},
          {"axes", axes},
          {"columns", columns},
          {"points", packed},
          {"vector_flops", report::vector_flops()}};
}

}  // namespace tessera::plot
