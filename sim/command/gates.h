#pragma once

#include <string>
#include <vector>

#include "sim/command/validation_set.h"

/// The rows of a set's table, and the regression gates that compare them with recorded values.
namespace tessera::command {

/// Shares of a run's cycles, 0 to 1.
struct Phases {
  double compute = 0;
  double exchange = 0;
  double sync = 0;
  double host = 0;
  double wait = 0;
};

/// A point and its simulated results.
struct Row {
  const ValidationPoint* point;
  double simulated = 0;
  double seconds = 0;           ///< per unit of work, if the point is the best of several runs
  double baseline_seconds = 0;  ///< 0: the set has no baseline
  double baseline_rate = 0;     ///< most work per second over the fit's further baseline values
  double fraction_of_peak = 0;
  Phases phases;
  std::string error;                              ///< why there is no result
  config::Json at = nullptr;                      ///< the best run's value, if there were several
  config::Json columns = config::Json::object();  ///< report key to value
  config::Json baseline_columns = config::Json::object();  ///< as `columns`, for the baseline

  [[nodiscard]] double ratio() const { return simulated / point->published; }
  [[nodiscard]] double ratio_with_unexplained() const {
    return (simulated + point->unexplained) / point->published;
  }
  [[nodiscard]] double speedup() const { return baseline_seconds / seconds; }
};

/// Prints "accuracy pass: what" and returns `passed`.
bool gate(const char* kind, const std::string& what, bool passed);

/// True if the row's value is as recorded, or if none is published.
bool point_passes(const Row& row);

/// Rank correlation of the rows' values, or speed-ups, with the published ones.
struct Ranked {
  std::size_t points;  ///< points with both numbers
  double correlation;
};
Ranked ranked(const std::vector<Row>& rows, bool speedups);

/// Where a group of rows crosses its published speed-up, along the set's number.
struct Passed {
  std::string group;  ///< the values of the axes that its rows share
  double published;   ///< the speed-up
  double break_even;  ///< where the speed-up crosses 1; NaN: not between two rows
  double at;          ///< where it crosses `published`; NaN likewise
};
std::vector<Passed> crossings(const ValidationSet& set, const std::vector<Row>& rows);
/// "butterfly f16: 1.3 (published) passed at N = 372, 1 at 281"
std::string text_of(const Crossing& crossing, const Passed& passed);

/// Prints a line per recorded number; true if all results are as recorded. With `quick`, leaves out
/// comparisons of points with each other.
bool judge_regression(const ValidationSet& set, const std::vector<Row>& rows, bool quick);

/// The ratio of a value between neighbours along a number, over the published ratio.
struct Change {
  const Row* from;
  const Row* to;
  double ratio;
};
/// The set's neighbours, both with numbers, by `Neighbours::over`.
std::vector<Change> changes(const ValidationSet& set, const std::vector<Row>& rows);

}  // namespace tessera::command
