#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/plot/rows.h"

namespace tessera::plot {

/// One number to draw.
struct Sample {
  const Row* row;
  std::string name;  ///< what it is of, if a figure has several
  double value;
};

/// Samples by a quantity along an axis and by the lines or bars that they belong to.
struct Pivot {
  std::string x;                     ///< key path
  std::vector<std::string> x_texts;  ///< numbers in ascending order, else as they come
  std::vector<double> x_values;      ///< empty if they are no numbers
  std::string key_title;             ///< what tells the series apart
  std::vector<std::string> series;   ///< labels, in the order of their numbers
  /// [x][series]; nothing: no such run
  std::vector<std::vector<std::optional<double>>> values;

  [[nodiscard]] double largest() const;
  [[nodiscard]] double smallest() const;
  /// A table with a column for x and one a series.
  [[nodiscard]] std::string csv() const;
};

/// Throws UserError if two samples fall on one place, naming what else varies.
Pivot pivot(const Rows& rows, std::span<const Sample> samples, const std::string& x,
            std::span<const std::string> by);

/// The axes that have more than one value among the rows.
std::vector<std::string> varying(const Rows& rows);

}  // namespace tessera::plot
