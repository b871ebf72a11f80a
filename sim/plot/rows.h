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

/// One run: a point of a sweep or a run's folder.
struct Row {
  Json axes;                    ///< key path to value; null: not set at this point
  Json report;                  ///< report.json
  std::string status = "done";  ///< as in results.jsonl; empty: not simulated
  std::string error{};          ///< why it is not done
};

/// The runs that a figure shows.
struct Rows {
  std::string origin;             ///< the folders, for messages
  std::vector<std::string> axes;  ///< key paths that vary, in the order of the sweep
  std::vector<Row> rows;
  std::vector<Row> left_out{};  ///< points without a correct result

  /// A copy with the rows alone for which each "path=value" holds (numbers compare as numbers; an
  /// axis that a point does not set holds for nothing), and of `left_out` likewise; a path that is
  /// no axis holds for those if it does for all rows. Throws UserError if no row is left.
  [[nodiscard]] Rows where(std::span<const std::string> conditions) const;
};

/// True if a point has no result because its config cannot run.
bool is_infeasible(const Row& row);

/// "2 points that do not fit, 1 with a wrong result": why points are left out. Empty: none is.
std::string told_left_out(std::span<const Row> left_out);

/// Reads folders of `tessera sweep` (results.jsonl) and of `tessera run` (report.json), and tables
/// of `tessera validate` (.csv). With more than one sweep, `folder` is an axis; axes of runs are
/// the keys of config that differ. Throws UserError.
Rows read_rows(std::span<const std::string> folders);

/// Throws UserError if the folder holds points of a sweep that has not ended.
void refuse_unfinished(const std::string& folder);

/// The points in a file of `tessera sweep`, a line each: objects with these keys. Throws UserError.
std::vector<Json> read_points(const std::string& file, std::initializer_list<const char*> keys);

/// True if `tessera sweep` wrote it.
bool is_sweep_folder(const std::string& folder);

/// True if `tessera run` wrote it, and no sweep did.
bool is_run_folder(const std::string& folder);

/// A line of each folder that holds both, saying that the sweep is shown.
std::string told_shown(std::span<const std::string> folders);

/// Value at a path: of an axis, of report.json, or of its section config. Null: nothing.
const Json* find(const Row& row, const std::string& path);
std::optional<double> number(const Row& row, const std::string& path);
/// As labels show it: "1/16" for 0.0625, no quotes.
std::string text(const Row& row, const std::string& path);
std::string text(double value);

/// Throws UserError, with the nearest name, if no row has something at `path`; with `as_number`
/// also if what stands there is no number.
void require_path(const Rows& rows, const std::string& path, const std::string& option,
                  bool as_number);
void require_paths(const Rows& rows, std::span<const std::string> paths, const std::string& option,
                   bool as_number);

/// Keeps the best run, by `y`, of those that differ only in the axes `over`: the largest or
/// smallest, as `more_is_better` says, the first of equals. Drops runs without `y`. Values at
/// `over` can still be read, but tell runs apart no longer. Throws UserError for a path that is no
/// axis.
Rows best_over(const Rows& rows, std::span<const std::string> over, const std::string& y);

// Decides if runs lie on a grid of their axes or were drawn at random.
/// True if all values at the path are numbers.
bool is_numeric(const Rows& rows, const std::string& path);

/// How many different values stand at the path.
std::size_t distinct(const Rows& rows, const std::string& path);

/// True if a line along the axis of numbers with most values would jump about: most runs have a
/// place of their own on it, while another axis goes up and down.
bool is_scattered(const Rows& rows);

}  // namespace tessera::plot
