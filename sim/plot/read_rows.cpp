#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/key_path.h"
#include "sim/data/read_file.h"
#include "sim/plot/rows.h"
#include "sim/report/run_folder.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSweepTable = "results.jsonl";
constexpr const char* kReport = "report.json";
constexpr const char* kSweepPoints = "points.jsonl";

/// Adds the points of a sweep's list that have no result yet to `left_out`.
void read_to_do(const std::string& folder, bool several, const std::set<std::string>& known,
                Rows& rows) {
  const fs::path file = fs::path(folder) / kSweepPoints;
  if (!fs::exists(file)) return;
  for (Json& point : read_points(file, {"axes", "id"})) {
    if (known.contains(point["id"].dump())) continue;
    if (several) point["axes"]["folder"] = folder;
    rows.left_out.push_back({std::move(point["axes"]), {}, "", ""});
  }
}

void read_sweep(const std::string& folder, bool several, Rows& rows) {
  std::set<std::string> known;
  for (Json& point : read_points(fs::path(folder) / kSweepTable, {"axes", "status", "report"})) {
    for (const auto& [path, value] : point["axes"].items()) add_once(rows.axes, path);
    if (several) point["axes"]["folder"] = folder;
    if (point.contains("id")) known.insert(point["id"].dump());
    if (!sweep::has_numbers(point["status"])) {
      const bool told = point.contains("error") && point["error"].is_string();
      rows.left_out.push_back({std::move(point["axes"]), std::move(point["report"]),
                               point["status"].get<std::string>(),
                               told ? point["error"].get<std::string>() : ""});
      continue;
    }
    rows.rows.push_back({std::move(point["axes"]), std::move(point["report"])});
  }
  read_to_do(folder, several, known, rows);
  if (several) add_once<std::string>(rows.axes, "folder");
}

/// Makes axes of the config keys that differ between runs.
void find_axes_of_runs(std::span<Row> runs, Rows& rows) {
  std::vector<std::string> paths;
  std::map<std::string, std::set<std::string>> values;
  for (const Row& row : runs) {
    for (const auto& [path, cell] : sweep::cells_of(row.report.at("config"))) {
      if (!values.contains(path)) paths.push_back(path);
      values[path].insert(cell);
    }
  }
  for (const std::string& path : paths) {
    if (values[path].size() > 1) add_once(rows.axes, path);
  }
}

/// Reads a table of tessera validate; its axes are between the name and the published number.
void read_table(const std::string& file, Rows& rows) {
  std::istringstream lines(data::read_file(file));
  std::vector<std::string> columns;
  std::size_t axes = 0;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells = sweep::cells_of_line(line);
    if (columns.empty()) {
      columns = cells;
      axes = index_in(cells, "published");
      if (axes == cells.size()) throw UserError(file + ": is no table of tessera validate");
      for (std::size_t i = 1; i < axes; ++i) add_once(rows.axes, columns[i]);
      continue;
    }
    cells.resize(columns.size());
    Row row{Json::object(), Json::object()};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      const Json number = Json::parse(cells[i], nullptr, false);
      const Json value = number.is_number() ? number : Json(cells[i]);
      if (i > 0 && i < axes)
        row.axes[columns[i]] = value;
      else
        config::set_at(row.report, columns[i], value);
    }
    const bool done = row.report.contains("simulated");
    if (!done) row.status = "unknown";  // the table does not give the status
    (done ? rows.rows : rows.left_out).push_back(std::move(row));
  }
}

}  // namespace

std::vector<Json> read_points(const std::string& file, std::initializer_list<const char*> keys) {
  std::istringstream lines(data::read_file(file));
  std::vector<Json> points;
  for (std::string line; std::getline(lines, line);) {
    const std::string place = fmt::format("{}:{}", file, points.size() + 1);
    const Json& point = points.emplace_back(config::parse_json(line, place));
    if (!point.is_object() ||
        !std::ranges::all_of(keys, [&](auto key) { return point.contains(key); }))
      throw UserError(place + ": is no point of tessera sweep");
  }
  return points;
}

bool is_sweep_folder(const std::string& folder) {
  return fs::exists(fs::path(folder) / kSweepTable);
}

bool is_run_folder(const std::string& folder) {
  return fs::exists(fs::path(folder) / kReport) && !is_sweep_folder(folder);
}

std::string shown_text(std::span<const std::string> folders) {
  std::string told;
  for (const std::string& folder : folders)
    if (is_sweep_folder(folder) && fs::exists(fs::path(folder) / kReport))
      told += fmt::format("{}: holds a sweep and a run; the sweep is shown\n", folder);
  return told;
}

void refuse_folder(const std::string& folder) {
  std::error_code none;
  const fs::directory_iterator points(fs::path(folder) / "points", none);
  if (none)
    throw UserError("{}: found neither {} of tessera sweep nor {} of tessera run there", folder,
                    kSweepTable, kReport);
  throw UserError(
      "{}: found {} of a sweep that has not ended; the command that began it goes on from "
      "there and writes {}",
      folder, counted(static_cast<std::size_t>(std::distance(begin(points), end(points))), "point"),
      kSweepTable);
}

Rows read_rows(std::span<const std::string> folders) {
  Rows rows{fmt::format("{}", fmt::join(folders, ", ")), {}, {}};
  const bool several = std::ranges::count_if(folders, is_sweep_folder) > 1;
  std::vector<Row> runs;
  for (const std::string& folder : folders) {
    if (is_sweep_folder(folder)) {
      read_sweep(folder, several, rows);
    } else if (folder.ends_with(".csv")) {
      read_table(folder, rows);
    } else if (is_run_folder(folder)) {
      runs.push_back({Json::object(), report::read_run(folder).report});
      runs.back().report["folder"] = folder;
    } else {
      refuse_folder(folder);
    }
  }
  find_axes_of_runs(runs, rows);
  rows.rows.insert(rows.rows.end(), runs.begin(), runs.end());
  if (rows.rows.empty())
    throw UserError("{}: no point there has a correct result{}{}", rows.origin,
                    rows.left_out.empty() ? "" : ": ", left_out_text(rows.left_out));
  return rows;
}

}  // namespace tessera::plot
