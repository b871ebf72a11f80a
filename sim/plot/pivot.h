#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/plot/figure.h"

namespace tessera::plot {

/// One number to draw.
struct Sample {
  const Row* row;
  std::string name;  ///< name of its quantity, if a figure has several
  double value;
};

/// Samples by a quantity along an axis and by the lines or bars that they belong to.
struct Pivot {
  std::string x;                     ///< key path
  std::vector<std::string> x_texts;  ///< numbers in ascending order, else as they come
  std::vector<double> x_values;      ///< empty if they are no numbers
  std::string key_title;             ///< the keys by which series differ
  std::vector<std::string> series;   ///< labels, in the order of their numbers
  /// [x][series]; nothing: no such run
  std::vector<std::vector<std::optional<double>>> values;
  std::vector<std::string> best;  ///< key paths over which each value is the best one
  /// [x][series]: where along `best` it is; none if `best` is empty
  std::vector<std::vector<std::string>> best_at;

  /// [x][series]: no run there, for its config is one that cannot be run
  std::vector<std::vector<bool>> infeasible{};

  [[nodiscard]] bool has_infeasible() const;
  /// All values that there are.
  [[nodiscard]] std::vector<double> numbers() const;
  /// A table with a column for x, one a series, and then one a series for where its best is.
  [[nodiscard]] std::string csv() const;
};

/// Samples by the request's x, and by what tells its series apart. Throws UserError if two fall on
/// one place, naming what else varies. Points that cannot run have places too, if both axes and
/// series are axes of the sweep. Rows of a table without x have none.
Pivot pivot(const Rows& rows, std::span<const Sample> samples, const Request& request);

/// "n 4" for a number, "f16" for a text.
std::string named_value(const Row& row, const std::string& path);

/// Files without their folders, other texts as they are; all as they are unless all still differ.
std::vector<std::string> short_names(const std::vector<std::string>& texts);

/// Label of a row's series: "n 4, f16"; of a single key its value alone.
std::string series_label(const Row& row, std::span<const std::string> by);

/// The labels of all rows, in the order of their numbers. Throws UserError if they are too many for
/// one figure.
std::vector<std::string> series_labels(const Rows& rows, std::span<const std::string> by);

/// True if each value at `x` goes with one at `path`, as of a square's sides.
bool follows(const Rows& rows, const std::string& path, const std::string& x);

/// The axes that have more than one value among the rows, those that cannot run included.
std::vector<std::string> varying(const Rows& rows);

}  // namespace tessera::plot
