#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/config/key_path.h"
#include "sim/data/read_file.h"
#include "sim/plot/rows.h"
#include "sim/report/run_folder.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSweepTable = "results.jsonl";

void add_axis(const std::string& path, Rows& rows) {
  if (std::find(rows.axes.begin(), rows.axes.end(), path) == rows.axes.end()) {
    rows.axes.push_back(path);
  }
}

void read_sweep(const std::string& folder, bool several, Rows& rows) {
  const fs::path file = fs::path(folder) / kSweepTable;
  std::istringstream lines(data::read_file(file));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string place = fmt::format("{}:{}", file.string(), ++number);
    Json point = config::parse_json(line, place);
    const bool whole = point.is_object() && point.contains("axes") && point.contains("status") &&
                       point.contains("report");
    if (!whole) throw UserError(place + ": is no point of tessera sweep");
    for (const auto& [path, value] : point["axes"].items()) add_axis(path, rows);
    if (several) point["axes"]["folder"] = folder;
    if (!sweep::has_numbers(point["status"])) {
      ++rows.left_out;
      if (point["status"] == "failed") rows.infeasible.push_back({std::move(point["axes"]), {}});
      continue;
    }
    rows.rows.push_back({std::move(point["axes"]), std::move(point["report"])});
  }
  if (several) add_axis("folder", rows);
}

/// The keys of config that differ between runs become their axes.
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
    if (values[path].size() > 1) add_axis(path, rows);
  }
}

/// A table of tessera validate: its axes stand between the name and what was published.
void read_table(const std::string& file, Rows& rows) {
  std::istringstream lines(data::read_file(file));
  std::vector<std::string> columns;
  std::size_t axes = 0;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells = sweep::cells_of_line(line);
    if (columns.empty()) {
      columns = cells;
      axes = static_cast<std::size_t>(std::find(cells.begin(), cells.end(), "published") -
                                      cells.begin());
      if (axes == cells.size()) throw UserError(file + ": is no table of tessera validate");
      for (std::size_t i = 1; i < axes; ++i) add_axis(columns[i], rows);
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
    row.report.contains("simulated") ? rows.rows.push_back(std::move(row)) : void(++rows.left_out);
  }
}

}  // namespace

bool is_run_folder(const std::string& folder) {
  return fs::exists(fs::path(folder) / "report.json");
}

Rows read_rows(std::span<const std::string> folders) {
  Rows rows{fmt::format("{}", fmt::join(folders, ", ")), {}, {}, 0};
  const auto is_sweep = [](const std::string& folder) {
    return fs::exists(fs::path(folder) / kSweepTable);
  };
  const bool several = std::count_if(folders.begin(), folders.end(), is_sweep) > 1;
  std::vector<Row> runs;
  for (const std::string& folder : folders) {
    if (is_sweep(folder)) {
      read_sweep(folder, several, rows);
    } else if (folder.ends_with(".csv")) {
      read_table(folder, rows);
    } else if (is_run_folder(folder)) {
      runs.push_back({Json::object(), report::read_run(folder).report});
    } else {
      throw UserError(
          fmt::format("{}: found neither {} of tessera sweep nor report.json of tessera run there",
                      folder, kSweepTable));
    }
  }
  find_axes_of_runs(runs, rows);
  rows.rows.insert(rows.rows.end(), runs.begin(), runs.end());
  if (rows.rows.empty()) throw UserError(rows.origin + ": no point there has a result");
  return rows;
}

}  // namespace tessera::plot
