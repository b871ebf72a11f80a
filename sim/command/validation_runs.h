#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/command/gates.h"
#include "sim/command/simulator.h"

namespace tessera::command {

/// The runs of a set: the distinct baselines that its points need, then the points; the best of
/// several runs may count for a point. Consecutive points with the same config share a run.
class ValidationRuns {
 public:
  /// `quick`: only points marked so, without further baselines. `folder`: a sweep::Store of
  /// results, including those of earlier calls; empty: none.
  ValidationRuns(const ValidationSet& set, bool quick, std::string folder,
                 const Simulator& simulator);

  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Number of runs to report progress on: baselines, and every value tried for a point.
  [[nodiscard]] std::size_t size() const { return baselines_.size() + items_.size(); }

  /// Runs them, `jobs` at a time, each in a child process; calls `done` with each row in order, and
  /// `watch` with the number of finished runs.
  std::vector<Row> run(unsigned jobs, const std::function<void(const Row&)>& done,
                       const std::function<void(std::size_t)>& watch);

 private:
  struct Item {
    std::size_t row;
    ValidationPoint point;  ///< with the tried value applied
    double work;            ///< that value; 1 if the point has no key to try
  };

  /// Items [begin, end) with the same config.
  struct Shared {
    std::size_t begin, end;
  };

  void add_item(const ValidationPoint& point, const config::Json& at, bool quick);
  void add_baseline(const config::Json& baseline, bool needed);
  /// The baseline at the further values of the set's fit.
  [[nodiscard]] std::vector<config::Json> further_baselines(const config::Json& baseline) const;
  [[nodiscard]] std::string simulate_run(std::size_t i) const;
  void take_baseline(const config::Json& baseline, const config::Json& answer);
  /// `at`: index of the item within its run. Seconds are per unit of work, which the key of the
  /// best measures.
  void take(const Item& item, std::size_t at, const config::Json& answer);
  void take_baseline_of(const Item& item, Row& row) const;

  const ValidationSet& set_;
  std::string folder_;
  const Simulator& simulator_;
  std::vector<Row> rows_;
  std::vector<Item> items_;
  std::vector<Shared> runs_;
  std::vector<config::Json> baselines_;
  std::map<std::string, double> seconds_;  ///< by the JSON text of a baseline
  std::map<std::string, config::Json> baseline_columns_;
  std::set<std::string> needed_;  ///< baselines of single points, whose failures are printed
};

}  // namespace tessera::command
