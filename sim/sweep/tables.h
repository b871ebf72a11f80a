#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/sweep/points.h"
#include "sim/sweep/store.h"

/// The tables of a sweep. Rows are in the order of the points.
namespace tessera::sweep {

/// Columns of results.csv with their cells.
using Cells = std::vector<std::pair<std::string, std::string>>;

/// The columns of a report after the axes: its numbers by dotted path, plan.* and prediction.*,
/// but none of the host. Lists of values become JSON; lists of objects are left out.
Cells cells_of(const config::Json& report);

/// A cell in CSV (RFC 4180). Also quotes texts that a spreadsheet could take for a formula: those
/// that begin with =, +, - or @ and are not numbers.
std::string csv_cell(const std::string& text);
/// Splits a line of such cells.
std::vector<std::string> cells_of_line(const std::string& line);

/// Throws UserError if the folder's tables have points that this sweep lacks, or of another way:
/// results of an earlier sweep would be lost. The same points of another program, and additional
/// points, are allowed.
void refuse_replacing(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                      Way way);

/// Writes points.jsonl: per point a line with number, id, axes, config hash; `predicted` if so.
void write_points(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                  Way way);

/// Writes results.csv (axes; columns of the reports; seed, id, status and the error's first line)
/// and results.jsonl (point, id, axes, seed, status, error, report). Points without a result have
/// no row.
void write_results(const std::string& folder, const Sweep& sweep, std::span<const Point> points,
                   const Store& store);

}  // namespace tessera::sweep
