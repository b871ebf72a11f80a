#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/command/gates.h"
#include "sim/command/simulator.h"

namespace tessera::command {

/// The runs of a set: the distinct baselines that its points need, then each point, which may be
/// several runs of which the best counts. Points in a row that set the same share a run.
class ValidationRuns {
 public:
  /// `quick`: of the points so marked alone, with no further baselines. `folder`: of a sweep::Store
  /// that keeps their results, and has those of earlier calls; empty: none.
  ValidationRuns(const ValidationSet& set, bool quick, std::string folder,
                 const Simulator& simulator);

  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// How many points that is, with baselines and what the best are sought among.
  [[nodiscard]] std::size_t size() const { return baselines_.size() + items_.size(); }

  /// Runs them, `jobs` at a time, each in a process of its own; `done` hears of each row in order,
  /// `watch` of how many points have ended.
  std::vector<Row> run(unsigned jobs, const std::function<void(const Row&)>& done,
                       const std::function<void(std::size_t)>& watch);

 private:
  struct Item {
    std::size_t row;
    ValidationPoint point;  ///< with the value that it is tried at
    double work;            ///< that value; 1 for a point as it is
  };

  /// Items [begin, end), whose configs are the same.
  struct Shared {
    std::size_t begin, end;
  };

  void add_item(const ValidationPoint& point, const config::Json& at, bool quick);
  void add_baseline(const config::Json& baseline, bool needed);
  /// The baseline at the further values that the set's fit asks for.
  [[nodiscard]] std::vector<config::Json> further_baselines(const config::Json& baseline) const;
  [[nodiscard]] std::string simulate_run(std::size_t i) const;
  void take_baseline(const config::Json& baseline, const config::Json& answer);
  /// `at`: of the item within its run. Seconds are those for a unit of work: of the key over which
  /// the best is sought.
  void take(const Item& item, std::size_t at, const config::Json& answer);
  void take_baseline_of(const Item& item, Row& row) const;

  const ValidationSet& set_;
  std::string folder_;
  const Simulator& simulator_;
  std::vector<Row> rows_;
  std::vector<Item> items_;
  std::vector<Shared> runs_;
  std::vector<config::Json> baselines_;
  std::map<std::string, double> seconds_;  ///< by the text of a baseline
  std::map<std::string, config::Json> baseline_columns_;
  std::set<std::string> needed_;  ///< those of points, which must not fail
};

}  // namespace tessera::command
