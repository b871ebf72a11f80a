#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/command/evidence.h"
#include "sim/config/config.h"
#include "sim/config/fields.h"
#include "sim/config/json_text.h"
#include "sim/config/presets.h"

namespace tessera::command {

/// Which number of a report is compared: report[key] x scale - minus.
struct Metric {
  std::string key = "time.cycles";  ///< dotted path into report.json
  double scale = 1;
  double minus = 0;
  std::string unit = "cycles";
};

/// Values of one key that a point is run at; what is largest of the metric counts.
struct BestOf {
  std::string over;  ///< key path of a number that measures the work; empty: the point as it is
  config::Json values = config::Json::array();
};

/// How far a point may move from where it was recorded, told from what is published; 0: any.
struct PointRegression {
  double within = 0;           ///< relative deviation
  double within_absolute = 0;  ///< deviation in the metric's unit
  double peak_at_most = 0;     ///< largest rate.fraction_of_peak
  double speedup_within = 0;   ///< relative deviation of the speed-up
};

/// One published number and the config that should reproduce it.
struct ValidationPoint {
  std::string name;
  bool quick = false;    ///< part of --quick
  double published = 0;  ///< 0: none, the point only shows ours
  bool fits = true;      ///< false: published as too large for the machine, refused here too
  double published_speedup = 0;  ///< over the set's baseline; 0: none
  PointRegression regression;
  bool recorded = true;  ///< false: run on another machine than it was recorded on
  std::string why;       ///< why our number is higher or lower; empty: no remark
  Metric metric;
  config::Json set = config::Json::object();  ///< key path to value, on top of the set's base
  config::Json baseline =
      config::Json::object();  ///< key path to value, on top of the set's baseline
  BestOf best;
  double unexplained = 0;  ///< the set's, beside the simulated value
  config::Json context =
      config::Json::object();  ///< further published numbers by name, for the table only
};

/// Where a whole set was recorded, told from what is published: what fails when results move.
/// 0: anywhere. What is near enough to published numbers is not for a set to say (evidence.h).
struct Regression {
  double each_within = 0;  ///< every point's relative deviation
  double median_low = 0;   ///< median of simulated / published
  double median_high = 0;
  double none_below = 0;  ///< no point's simulated / published
  double none_above = 0;
  double share_low = 0;  ///< simulated / published of `share_least` of the points
  double share_high = 0;
  double share_least = 0;
  double rank_least = 0;     ///< Spearman's correlation of simulated and published values
  double speedup_least = 0;  ///< every simulated speed-up over the baseline
  double speedup_most = 0;
};

/// Speed-ups (values in a set without baseline) as a product of powers of some keys.
struct PowerLaw {
  struct Exponent {
    std::string key;  ///< path of a number in the configs
    double published = 0;
  };
  std::string best_over;  ///< key: among points that differ only in it, the largest result counts
  std::vector<Exponent> exponents;
  /// Further values of that key at which the baseline is tried; those it refuses do not count.
  config::Json baseline_values = config::Json::array();
};

/// Some points' values as a straight line over a number of theirs: its slope beside a published
/// one.
struct Line {
  std::string name;
  std::vector<std::string> points;
  std::vector<double> at;  ///< the number, by point
  double scale = 1;        ///< factor on values, for the slope's unit
  std::string unit;        ///< unit of the slope
  double published = 0;    ///< the slope
};

/// Some points' values along a number of theirs, from the least on: the first that is near enough
/// to the largest is published.
struct Knee {
  std::string name;
  std::vector<std::string> points;
  std::vector<double> at;     ///< the number, by point
  double within = 0.08;       ///< part of the largest value that a near one may lack
  double published = 0;       ///< the number
  double published_most = 0;  ///< where a range is published; 0: none is
};

/// Where the speed-ups of points that have the same axes pass one, and the published one: between
/// neighbours along a number of theirs, as a straight line of logarithms.
struct Crossing {
  std::string over;  ///< name of that number in the points' context; empty: not looked for
  double least = 0;  ///< recorded: least number at which the published one is passed
  double most = 0;
};

/// Points that differ in one of some numbers alone, and there to the next one that a point has: how
/// the value changes from one to the other, beside how the published one does.
struct Neighbours {
  std::vector<std::string> over;  ///< key paths of the numbers; empty: not looked at
  std::vector<std::string> same;  ///< key paths of what else neighbours have alike
  double within = 0;              ///< relative deviation of a change that counts as near
  double share = 0;               ///< recorded part of the changes that are
};

/// A difference of unknown origin between published and simulated numbers.
struct Unexplained {
  bool given = false;
  double amount = 0;  ///< in the metric's unit
  std::string what;
};

/// Result that points are compared with: the same problem solved otherwise.
struct Baseline {                 // NOLINT(bugprone-exception-escape): the moves of Json
  config::Json config;            ///< null: none
  std::vector<std::string> same;  ///< key paths that it takes from each point
};

/// A file of configs/validation or configs/papers: published numbers with their source.
struct ValidationSet {
  std::string name;
  std::string title;
  Evidence evidence = Evidence::silicon;
  std::string citation;
  std::string shortfall;  ///< why it does not reproduce what is published; empty: it should
  std::string why;        ///< why our numbers are higher or lower; empty: no remark
  Metric metric;
  Unexplained unexplained;
  Regression regression;
  PowerLaw fit;
  std::vector<Line> lines;
  std::vector<Knee> knees;
  Crossing crossing;
  Neighbours neighbours;
  Baseline baseline;
  std::vector<std::string> axes;  ///< key paths that are columns of the table in CSV
  /// Keys of report.json that are columns of it too, of the baseline's reports as well.
  std::vector<std::string> columns;
  config::Json base;  ///< a config
  std::vector<ValidationPoint> points;
  std::vector<std::string> changed;  ///< "machine.x=8", which validate --set lays over each config
};

/// Throws ConfigError for a file that is not of this form; `origin` names it in messages.
ValidationSet read_validation_set(const config::Preset& preset, const std::string& origin);
ValidationSet read_validation_set(const config::Preset& preset);

/// The config of one point: the set's base with what the point changes, on one host thread.
config::Config point_config(const ValidationSet& set, const ValidationPoint& point,
                            const Catalogue& catalogue, config::Presets machines);

/// The baseline of a point as a config of its own.
config::Json baseline_of(const ValidationSet& set, const ValidationPoint& point);
config::Config baseline_config(const ValidationSet& set, const config::Json& baseline,
                               const Catalogue& catalogue, config::Presets machines);

/// Value of a point's config at a key path; null if there is none.
config::Json value_of(const ValidationSet& set, const ValidationPoint& point,
                      const std::string& key);

/// A further published number of a point's; nothing if it has none of that name.
std::optional<double> context_number(const ValidationPoint& point, const std::string& name);

/// The metric's value in a report.
double metric_of(const Metric& metric, const config::Json& report);

}  // namespace tessera::command
