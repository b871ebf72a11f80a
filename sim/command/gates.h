#pragma once

#include <string>
#include <vector>

#include "sim/command/validation_set.h"

/// The rows of a set's table, and what of them may not move from where it was recorded.
namespace tessera::command {

/// Which share of a run's cycles went to what, from 0 to 1.
struct Phases {
  double compute = 0;
  double exchange = 0;
  double sync = 0;
  double host = 0;
  double wait = 0;
};

/// A point with what the simulation says of it.
struct Row {
  const ValidationPoint* point;
  double simulated = 0;
  double seconds = 0;           ///< for a unit of work, where the point is the best of several runs
  double baseline_seconds = 0;  ///< 0: the set has none
  double baseline_rate = 0;     ///< best work a second at the fit's further baseline values
  double fraction_of_peak = 0;
  Phases phases;
  std::string error;          ///< why there is no number
  config::Json at = nullptr;  ///< the value that was best, where the point is the best of several
  config::Json columns = config::Json::object();           ///< key of the report to value
  config::Json baseline_columns = config::Json::object();  ///< as `columns`, for the baseline

  [[nodiscard]] double ratio() const { return simulated / point->published; }
  [[nodiscard]] double ratio_with_unexplained() const {
    return (simulated + point->unexplained) / point->published;
  }
  [[nodiscard]] double speedup() const { return baseline_seconds / seconds; }
};

/// Prints "accuracy pass: what", and returns whether it passed.
bool gate(const char* kind, const std::string& what, bool passed);

/// True if a row has a number where one was recorded, or none where none is published.
bool point_passes(const Row& row);

/// How well the rows' values, or their speed-ups, keep the order of the published ones.
struct Ranked {
  std::size_t points;  ///< that have both
  double correlation;
};
Ranked ranked(const std::vector<Row>& rows, bool speedups);

/// Where a group of rows passes its published speed-up along the set's number.
struct Passed {
  std::string group;  ///< the values of the axes that its rows share
  double published;   ///< the speed-up
  double break_even;  ///< where 1 is passed; NaN: not between two rows
  double at;          ///< where the published one is; NaN likewise
};
std::vector<Passed> crossings(const ValidationSet& set, const std::vector<Row>& rows);
/// "butterfly f16: 1.3 (published) passed at N = 372, 1 at 281"
std::string text_of(const Crossing& crossing, const Passed& passed);

/// Prints a line for each thing that the set recorded; true if results stand where they stood. Of a
/// part of the points (`quick`) what compares points with each other is left out.
bool judge_regression(const ValidationSet& set, const std::vector<Row>& rows, bool quick);

/// How a value changes from a point to the next one along a number, over how the published one
/// does.
struct Change {
  const Row* from;
  const Row* to;
  double ratio;
};
/// Those of the set's neighbours that both have numbers, by `Neighbours::over`.
std::vector<Change> changes(const ValidationSet& set, const std::vector<Row>& rows);

}  // namespace tessera::command
