#include "sim/sweep/tables.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/base/whole_file.h"
#include "sim/config/key_path.h"
#include "sim/data/read_file.h"

namespace tessera::sweep {
namespace {

using config::Json;

constexpr std::array kTail = {"seed", "id", "status", "error"};

std::string cell_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : config::one_line(value);
}

void flatten(const Json& value, const std::string& path, Cells& cells) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) flatten(inner, config::join(path, key), cells);
    return;
  }
  const bool of_objects =
      value.is_array() && std::ranges::any_of(value, [](auto& e) { return e.is_object(); });
  if (!of_objects) cells.emplace_back(path, cell_text(value));
}

/// Sections of a report with other columns, or dependent on the host.
bool is_apart(const std::string& key) {
  constexpr std::array kApart = {"tessera", "config", "host", "plan", "prediction"};
  return contains(kApart, key);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The columns in three runs (report, plan, prediction), each in order of first appearance.
class Columns {
 public:
  void add(const Cells& cells) {
    for (const auto& [name, text] : cells) {
      if (place_.contains(name)) continue;
      place_[name] = 0;
      runs_[run_of(name)].push_back(name);
    }
  }
  void close() {
    for (const auto& run : runs_) names_.insert(names_.end(), run.begin(), run.end());
    for (std::size_t i = 0; i < names_.size(); ++i) place_[names_[i]] = i;
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::vector<std::string> row(const Cells& cells) const {
    std::vector<std::string> row(names_.size());
    for (const auto& [name, text] : cells) row[place_.at(name)] = text;
    return row;
  }

 private:
  static std::size_t run_of(const std::string& name) {
    if (name.starts_with("prediction.")) return 2;
    return name.starts_with("plan.") ? 1 : 0;
  }

  std::array<std::vector<std::string>, 3> runs_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> place_;
};

bool looks_like_formula(const std::string& text) {
  if (text.find_first_of("=+-@") != 0) return false;
  char* end = nullptr;
  static_cast<void>(std::strtod(text.c_str(), &end));
  return end != text.c_str() + text.size();
}

void write_line(std::ostream& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out << (i == 0 ? "" : ",") << csv_cell(cells[i]);
  }
  out << '\n';
}

/// Writes results.jsonl and collects the columns.
Columns write_jsonl(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                    const Store& store) {
  Columns columns;
  WholeFile file(folder + "/results.jsonl");
  for (const Point& point : points) {
    const std::optional<Result> result = store.find_any(point.id);
    if (!result) continue;
    Json line = {{"point", point.index}, {"id", point.id}, {"axes", sweep.axes_of(point)}};
    line.update(to_json(*result));
    file.out() << config::one_line(line) << '\n';
    if (!result->report.is_null()) columns.add(cells_of(result->report));
  }
  file.commit();
  columns.close();
  return columns;
}

std::vector<std::string> csv_row(const Sweep& sweep, const Point& point, const Result& result,
                                 const Columns& columns) {
  std::vector<std::string> row;
  const Json axes = sweep.axes_of(point);
  for (const std::string& axis : sweep.axes()) {
    row.push_back(axes.contains(axis) ? cell_text(axes[axis]) : "");
  }
  const Cells cells = result.report.is_null() ? Cells() : cells_of(result.report);
  const std::vector<std::string> of_report = columns.row(cells);
  row.insert(row.end(), of_report.begin(), of_report.end());
  row.insert(row.end(),
             {cell_text(result.seed), point.id, result.status, first_line(result.error)});
  return row;
}

}  // namespace

Cells cells_of(const Json& report) {
  Cells cells;
  for (const auto& [key, section] : report.items()) {
    if (!is_apart(key)) flatten(section, key, cells);
  }
  for (const char* key : {"plan", "prediction"}) {
    if (report.contains(key)) flatten(report.at(key), key, cells);
  }
  return cells;
}

std::string csv_cell(const std::string& text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string::npos;
  if (plain && !looks_like_formula(text)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::vector<std::string> cells_of_line(const std::string& line) {
  std::vector<std::string> cells{""};
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool twice = quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (twice) {
      cells.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

namespace {

const char* name_of(Way way) { return way == Way::predicted ? "predicted" : "simulated"; }

bool is_text(const Json& object, const char* key) {
  return object.contains(key) && object.at(key).is_string();
}

}  // namespace

void refuse_replacing(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                      Way way) {
  const std::string known = folder + "/points.jsonl";
  if (!std::filesystem::exists(folder + "/results.csv") || !std::filesystem::exists(known)) return;
  std::set<std::string> kept, axes;
  for (const Point& point : points) {
    kept.insert({point.id, point.config});
    axes.insert(sweep.axes_of(point).dump());
  }
  std::istringstream lines(data::read_file(known));
  std::size_t number = 1;
  std::size_t lost = 0;
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    const Json old = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const bool whole =
        old.is_object() && old.contains("axes") && is_text(old, "config") && is_text(old, "id");
    if (!whole)
      throw UserError(
          "{}: line {} is no point of tessera sweep; --replace writes the file again, results of "
          "points stay",
          known, number);
    ++number;
    const Way found = old.contains("predicted") ? Way::predicted : Way::simulated;
    if (found != way)
      throw UserError(
          "{}/results.csv: is the table of {} points, allowed here one of {}; give another --out, "
          "or --replace",
          folder, name_of(found), name_of(way));
    if (kept.contains(old.at("config").get<std::string>()) ||
        kept.contains(old.at("id").get<std::string>()))
      continue;
    if (lost++ == 0) first = old.at("axes").dump();
  }
  if (lost == 0) return;
  if (axes.contains(first))
    throw UserError(
        "{}/results.csv: is the table of another sweep, with {} of another config than here, such "
        "as run.values (--timing) or what is not varied (the first: {}); give another --out, or "
        "--replace",
        folder, counted(lost, "point"), first);
  throw UserError(
      "{}/results.csv: is the table of another sweep, with {} that {} does not have (the first: "
      "{}); give another --out, or --replace",
      folder, counted(lost, "point"), sweep.name(), first);
}

void write_points(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                  Way way) {
  WholeFile file(folder + "/points.jsonl");
  for (const Point& point : points) {
    Json line = {{"point", point.index},
                 {"id", point.id},
                 {"axes", sweep.axes_of(point)},
                 {"config", point.config}};
    if (way == Way::predicted) line["predicted"] = true;
    file.out() << config::one_line(line) << '\n';
  }
  file.commit();
}

void write_results(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                   const Store& store) {
  const Columns columns = write_jsonl(folder, sweep, points, store);
  std::vector<std::string> head = sweep.axes();
  head.insert(head.end(), columns.names().begin(), columns.names().end());
  head.insert(head.end(), kTail.begin(), kTail.end());
  WholeFile file(folder + "/results.csv");
  write_line(file.out(), head);
  for (const Point& point : points) {
    const std::optional<Result> result = store.find_any(point.id);
    if (result) write_line(file.out(), csv_row(sweep, point, *result, columns));
  }
  file.commit();
}

}  // namespace tessera::sweep
