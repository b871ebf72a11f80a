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

/// Counts a sweep's points by outcome.
class SweepSummary {
 public:
  /// `axes`: the keys in which points differ.
  explicit SweepSummary(std::vector<std::string> axes = {}) : axes_(std::move(axes)) {}

  /// Adds a point's result; nullopt: to do. Calls `name` for the first point of each status.
  void add(const std::optional<sweep::Result>& result, const std::function<std::string()>& name);

  /// Prints the points per status, the first message of each status without numbers, and the number
  /// of timing runs.
  void print(const std::string& what, std::size_t ran, sweep::Way way) const;

  /// `defect` if a point died or hit an internal bug, `host_limit` if the host lacked resources,
  /// `check_failed` if a result is wrong. If no point is done, or with `strict` any is not:
  /// `user_error` if one failed, `no_progress` if one got stuck. Else `done`.
  [[nodiscard]] ExitCode exit_code(bool strict) const;

 private:
  struct Group {
    std::size_t points = 0;
    std::string first;  ///< name and message
  };
  void print_timing() const;
  void print_unused() const;
  void add_unused(const nlohmann::ordered_json& report);

  /// An axis with values at which runs did not use the part of the machine it changes.
  struct UnusedAxis {
    std::size_t points = 0;
    std::string why;  ///< of the first such point
  };

  std::vector<std::string> axes_;
  std::map<std::string, UnusedAxis> unused_;  ///< by axis
  std::size_t reports_ = 0;                   ///< points whose report has a section on unused parts
  std::map<std::string, Group> groups_;       ///< by status; "": to do
  /// Points with values turned off: computed without values; those among them also computed in
  /// full; and points that needed values.
  std::size_t timed_ = 0, computed_too_ = 0, in_full_ = 0;
};

}  // namespace tessera::command
