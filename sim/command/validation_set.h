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

/// The number of a report that is compared: report[key] x scale - minus.
struct Metric {
  std::string key = "time.cycles";  ///< dotted path into report.json
  double scale = 1;
  double minus = 0;
  std::string unit = "cycles";
};

/// Values of one key at which a point is run; the run with the largest metric counts.
struct BestOf {
  std::string over;  ///< key path of a number that measures the work; empty: a single run
  config::Json values = config::Json::array();
};

/// Allowed deviations of a point from its recorded, not its published value; 0: any.
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
  double published = 0;  ///< 0: none, the point only shows our number
  bool fits = true;      ///< false: too large for the machine, as published; must be refused
  double published_speedup = 0;  ///< over the set's baseline; 0: none
  PointRegression regression;
  bool recorded = true;  ///< false: run on another machine than it was recorded on
  std::string why;       ///< why our number is higher or lower; empty: no remark
  Metric metric;
  config::Json set = config::Json::object();  ///< key path to value, on top of the set's base
  config::Json baseline =
      config::Json::object();  ///< key path to value, on top of the set's baseline
  BestOf best;
  double unexplained = 0;  ///< the set's unexplained amount
  config::Json context =
      config::Json::object();  ///< further published numbers by name, for the table only
};

/// Recorded results of a whole set, as opposed to published ones: fails if results move. 0: no
/// limit. The required accuracy is not up to a set (evidence.h).
struct Regression {
  double each_within = 0;  ///< relative deviation of every point
  double median_low = 0;   ///< median of simulated / published
  double median_high = 0;
  double none_below = 0;  ///< lower limit of each simulated / published
  double none_above = 0;
  double share_low = 0;  ///< range of simulated / published for `share_least` of the points
  double share_high = 0;
  double share_least = 0;
  double rank_least = 0;     ///< Spearman's correlation of simulated and published values, at least
  double speedup_least = 0;  ///< every simulated speed-up over the baseline, at least
  double speedup_most = 0;
};

/// Speed-ups (values if there is no baseline) as a product of powers of some keys.
struct PowerLaw {
  struct Exponent {
    std::string key;  ///< path of a numeric key
    double published = 0;
  };
  std::string best_over;  ///< of points that differ only in this key, the largest result counts
  std::vector<Exponent> exponents;
  /// Further values of `best_over` to try the baseline at; those that it refuses do not count.
  config::Json baseline_values = config::Json::array();
};

/// A straight line through some points' values over one of their numbers, with its published slope.
struct Line {
  std::string name;
  std::vector<std::string> points;
  std::vector<double> at;  ///< the number, per point
  double scale = 1;        ///< factor on values, to get the slope's unit
  std::string unit;        ///< unit of the slope
  double published = 0;    ///< the slope
};

/// Some points' values by one of their numbers, ascending: the first number whose value is near the
/// largest value is published.
struct Knee {
  std::string name;
  std::vector<std::string> points;
  std::vector<double> at;     ///< the number, per point
  double within = 0.08;       ///< relative distance to the largest value that counts as near
  double published = 0;       ///< the number
  double published_most = 0;  ///< upper end of a published range; 0: not a range
};

/// Where the speed-ups of points with equal axes cross one, and the published speed-up: by log-log
/// interpolation between neighbours along one of their numbers.
struct Crossing {
  std::string over;  ///< that number's name in the points' context; empty: no crossings
  double least = 0;  ///< recorded: least number where the published speed-up is crossed
  double most = 0;
};

/// Pairs of points that differ in one number only and are next to each other in it: the change of
/// the value between them against the published change.
struct Neighbours {
  std::vector<std::string> over;  ///< key paths of the numbers; empty: no comparison
  std::vector<std::string> same;  ///< further key paths in which neighbours must agree
  double within = 0;              ///< relative deviation that counts as near
  double share = 0;               ///< recorded: least share of near changes
};

/// A difference of unknown origin between published and simulated numbers.
struct Unexplained {
  bool given = false;
  double amount = 0;  ///< in the metric's unit
  std::string what;
};

/// The result that points are compared with: the same problem solved in another way.
struct Baseline {                 // NOLINT(bugprone-exception-escape): the moves of Json
  config::Json config;            ///< null: none
  std::vector<std::string> same;  ///< key paths taken from each point
};

/// A file of configs/validation or configs/papers: published numbers with their source.
struct ValidationSet {
  std::string name;
  std::string title;
  Evidence evidence = Evidence::silicon;
  std::string citation;
  std::string shortfall;  ///< why it misses the published numbers; empty: it should not
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
  std::vector<std::string> axes;  ///< key paths shown as columns of the CSV table
  /// Keys of report.json shown as columns of that table, also for the baseline's reports.
  std::vector<std::string> columns;
  config::Json base;  ///< a config
  std::vector<ValidationPoint> points;
  std::vector<std::string> changed;  ///< "machine.x=8", which validate --set applies to each config
};

/// Throws ConfigError for a malformed file; `origin` names it in messages.
ValidationSet read_validation_set(const config::Preset& preset, const std::string& origin);
ValidationSet read_validation_set(const config::Preset& preset);

/// The config of one point: the set's base with the point's changes, on one host thread.
config::Config point_config(const ValidationSet& set, const ValidationPoint& point,
                            const Catalogue& catalogue, config::Presets machines);

/// The baseline of a point as a config of its own.
config::Json baseline_of(const ValidationSet& set, const ValidationPoint& point);
config::Config baseline_config(const ValidationSet& set, const config::Json& baseline,
                               const Catalogue& catalogue, config::Presets machines);

/// Value of a point's config at a key path; null if there is none.
config::Json value_of(const ValidationSet& set, const ValidationPoint& point,
                      const std::string& key);

/// A further published number of a point; nullopt if it has none of that name.
std::optional<double> context_number(const ValidationPoint& point, const std::string& name);

/// The metric's value in a report.
double metric_of(const Metric& metric, const config::Json& report);

}  // namespace tessera::command
