#pragma once

#include <string>

#include "sim/base/stopwatch.h"
#include "sim/command/progress.h"

namespace tessera::command {

/// How far a sweep or a validation set is: points done, how many a second, the time left.
class SweepProgress {
 public:
  SweepProgress(std::string name, std::size_t points, bool quiet)
      : name_(std::move(name)), points_(points), line_(quiet) {}

  /// Of a point that has ended with this status.
  void count(const std::string& status);
  /// So many points in all have ended.
  void count_to(std::size_t points) { counted_ = points; }
  [[nodiscard]] std::size_t counted() const { return counted_; }
  /// Shows where things stand, at most ten times a second.
  void show();
  void clear() { line_.clear(); }

 private:
  std::string name_;
  std::size_t points_;
  std::size_t counted_ = 0;
  std::size_t not_done_ = 0;
  double shown_at_ = -1;  ///< in seconds of watch_
  Stopwatch watch_;
  Progress line_;
};

/// "12 s", "3 min", "2.5 h"
std::string time_left(double seconds);

}  // namespace tessera::command
