#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/config/json_text.h"

namespace tessera::plot {

using config::Json;

/// One run: a point of a sweep, or a run's folder.
struct Row {
  Json axes;                    ///< key path to value; null: not set for this point
  Json report;                  ///< report.json
  std::string status = "done";  ///< as in results.jsonl; empty: not run yet
  std::string error{};          ///< why it is not done
};

/// The runs that a figure shows.
struct Rows {
  std::string origin;             ///< the folders, for messages
  std::vector<std::string> axes;  ///< varying key paths, in the order of the sweep
  std::vector<Row> rows;
  std::vector<Row> left_out{};  ///< points without a correct result

  /// A copy with only the rows that meet all conditions "path=value" (numbers compare as numbers;
  /// an unset axis meets none), `left_out` filtered likewise; there, points without the value stay
  /// if all rows meet the condition. Throws UserError if no row is left.
  [[nodiscard]] Rows where(std::span<const std::string> conditions) const;
};

/// True if a point has no result because its config cannot run.
bool is_infeasible(const Row& row);

/// Why points are left out: "2 points that do not fit, 1 with a wrong result"; empty if none are.
std::string left_out_text(std::span<const Row> left_out);

/// Reads folders of `tessera sweep` (results.jsonl) and of `tessera run` (report.json), and tables
/// of `tessera validate` (.csv). With several sweeps, `folder` is an axis; axes of runs are the
/// config keys that differ. Throws UserError.
Rows read_rows(std::span<const std::string> folders);

/// Throws UserError for a folder without a run or a finished sweep.
[[noreturn]] void refuse_folder(const std::string& folder);

/// Reads a file of `tessera sweep` with a JSON object per line, each with `keys`. Throws UserError.
std::vector<Json> read_points(const std::string& file, std::initializer_list<const char*> keys);

/// True if `tessera sweep` wrote the folder.
bool is_sweep_folder(const std::string& folder);

/// True if `tessera run` wrote the folder, and no sweep did.
bool is_run_folder(const std::string& folder);

/// For each folder that holds both a sweep and a run, a line that the sweep is shown.
std::string shown_text(std::span<const std::string> folders);

/// Value at a path: of an axis, of report.json, or of its section config. Null if there is none.
const Json* find(const Row& row, const std::string& path);
std::optional<double> number(const Row& row, const std::string& path);
/// As shown in labels: "1/16" for 0.0625, no quotes.
std::string text(const Row& row, const std::string& path);
std::string text(double value);

/// Throws UserError, with the nearest name, if no row has a value at `path`; with `as_number` also
/// if a value is not a number.
void require_path(const Rows& rows, const std::string& path, const std::string& option,
                  bool as_number);
void require_paths(const Rows& rows, std::span<const std::string> paths, const std::string& option,
                   bool as_number);

/// Of runs that differ only in the axes `over`, keeps the best by `y`: the largest or smallest, as
/// more_is_better() says, the first of equals. Drops runs without `y`. Values of `over` remain
/// readable, but are axes no longer. Throws UserError for a path that is not an axis.
Rows best_over(const Rows& rows, std::span<const std::string> over, const std::string& y);

// Decides whether runs form a grid over their axes or were drawn at random.
/// True if all values at the path are numbers.
bool is_numeric(const Rows& rows, const std::string& path);

/// Number of distinct values at the path.
std::size_t distinct(const Rows& rows, const std::string& path);

/// True if a line over the numeric axis with most values would be jagged: most runs have their own
/// value on it, while another axis is not monotonic along it.
bool is_scattered(const Rows& rows);

}  // namespace tessera::plot
