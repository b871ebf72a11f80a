#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/sweep/points.h"
#include "sim/sweep/store.h"

/// The files that people read. The rows are those of the points, in their order.
namespace tessera::sweep {

/// Columns of results.csv and their cells.
using Cells = std::vector<std::pair<std::string, std::string>>;

/// The columns of a report after the axes: its numbers by dotted path, plan.* and prediction.*.
/// Nothing that depends on the host. Lists of values are JSON; lists of objects are left out.
Cells cells_of(const config::Json& report);

/// A cell as CSV writes it (RFC 4180). A text that a spreadsheet could take for a formula, as it
/// begins with =, +, - or @ and is no number, is quoted too.
std::string csv_cell(const std::string& text);
/// The cells of a line written so.
std::vector<std::string> cells_of_line(const std::string& line);

/// Throws UserError where the folder has tables of points that this sweep does not have, or has in
/// another way: what an earlier sweep found would go. The same points of another program, and more
/// of them, may come.
void refuse_replacing(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                      Way way);

/// Writes points.jsonl: a line a point with its number, id, axes, the hash of its config and, where
/// it is predicted, that it is.
void write_points(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                  Way way);

/// Writes results.csv (axes; columns of the reports; seed, id, status and the error's first line)
/// and results.jsonl (point, id, axes, seed, status, error, report). Points without a result have
/// no row.
void write_results(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                   const Store& store);

}  // namespace tessera::sweep
