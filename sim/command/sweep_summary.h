#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/base/host_limit.h"
#include "sim/sweep/point_ids.h"
#include "sim/sweep/store.h"

namespace tessera::command {

/// Counts how a sweep's points ended.
class SweepSummary {
 public:
  /// `axes`: the keys that points differ in.
  explicit SweepSummary(std::vector<std::string> axes = {}) : axes_(std::move(axes)) {}

  /// A point's result; nothing: it is to do. `name` is asked of the first of each status.
  void add(const std::optional<sweep::Result>& result, const std::function<std::string()>& name);

  /// How many points have each status, of each without numbers the first one's message, and how
  /// many were timed alone.
  void print(const std::string& what, std::size_t ran, sweep::Way way) const;

  /// defect if a point died or met a bug of ours, host_limit if the host had not enough for one,
  /// check_failed if a result is wrong; where no point is done, or with `strict` one is not:
  /// user_error if one failed, no_progress if one stood still; else done.
  [[nodiscard]] ExitCode exit_code(bool strict) const;

 private:
  struct Group {
    std::size_t points = 0;
    std::string first;  ///< name and message
  };
  void print_timing() const;
  void print_unused() const;
  void add_unused(const nlohmann::ordered_json& report);

  /// An axis at whose values runs did not use the part of the machine that it changes.
  struct UnusedAxis {
    std::size_t points = 0;
    std::string why;  ///< at the first of them
  };

  std::vector<std::string> axes_;
  std::map<std::string, UnusedAxis> unused_;  ///< by axis
  std::size_t reports_ = 0;                   ///< points that say what they did not use
  std::map<std::string, Group> groups_;       ///< by status; "": to do
  /// Runs with values turned off: those that computed no values, those of them that were also
  /// computed in full, and those that had to compute values.
  std::size_t timed_ = 0, computed_too_ = 0, in_full_ = 0;
};

}  // namespace tessera::command
