#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/plot/figure.h"

namespace tessera::plot {

/// One number of a figure.
struct Sample {
  const Row* row;
  std::string name;  ///< its quantity, if the figure has several
  double value;
};

/// Samples arranged by an axis and by the series (lines or bars) they belong to.
struct Pivot {
  std::string x;                     ///< key path
  std::vector<std::string> x_texts;  ///< numbers ascending, then texts in order of appearance
  std::vector<double> x_values;      ///< empty if not all are numbers
  std::string key_title;             ///< the keys that distinguish series
  std::vector<std::string> series;   ///< labels, ordered by the keys' numbers
  /// [x][series]; nullopt: no such run
  std::vector<std::vector<std::optional<double>>> values;
  std::vector<std::string> best;  ///< key paths over which each value is the best
  /// [x][series]: the best run's values of `best`; empty if `best` is
  std::vector<std::vector<std::string>> best_at;

  /// [x][series]: the config cannot run
  std::vector<std::vector<bool>> infeasible{};

  [[nodiscard]] bool has_infeasible() const;
  /// All existing values.
  [[nodiscard]] std::vector<double> numbers() const;
  /// A table with a column for x, one per series, and one per series for the place of its best.
  [[nodiscard]] std::string csv() const;
};

/// Arranges samples by the request's x and by its series. Throws UserError if two have the same
/// place, naming what else varies. Points that cannot run get places too, if x and the series are
/// axes of the sweep. Rows without x are left out.
Pivot pivot(const Rows& rows, std::span<const Sample> samples, const Request& request);

/// "n 4" for a number, "f16" for a text.
std::string named_value(const Row& row, const std::string& path);

/// Drops the folders of absolute paths, unless that makes different texts equal.
std::vector<std::string> short_names(const std::vector<std::string>& texts);

/// Label of a row's series: "n 4, f16"; for a single key its value alone.
std::string series_label(const Row& row, std::span<const std::string> by);

/// The labels of all rows, ordered by their numbers. Throws UserError if there are too many for one
/// figure.
std::vector<std::string> series_labels(const Rows& rows, std::span<const std::string> by);

/// True if `x` determines the value at `path`, such as one side of a square the other.
bool follows(const Rows& rows, const std::string& path, const std::string& x);

/// The axes with more than one value among the rows, including rows that cannot run.
std::vector<std::string> varying(const Rows& rows);

}  // namespace tessera::plot
