#pragma once

#include <string>

#include "sim/base/stopwatch.h"

namespace tessera::command {

/// Opens standard streams that the caller closed, so that no other file gets their descriptors.
/// Using them still fails.
void occupy_standard_streams();

/// Writes legible(text) (sim/base/errors.h) to standard error; a failed write is ignored.
void tell(const std::string& text);

/// Shows progress on one line of stderr, only if that is a terminal.
class Progress {
 public:
  explicit Progress(bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(const std::string& text);
  void clear();
  [[nodiscard]] bool shown() const { return shown_; }
  /// True at most ten times a second, for frequent callers.
  [[nodiscard]] bool is_due();

 private:
  bool shown_;
  Stopwatch watch_;
  double due_at_ = 0;  ///< seconds on watch_
};

/// Progress of a sweep or validation set: points done, points per second, time left.
class SweepProgress {
 public:
  SweepProgress(std::string name, std::size_t points, bool quiet)
      : name_(std::move(name)), points_(points), line_(quiet) {}

  /// Counts a finished point by its status.
  void count(const std::string& status);
  /// Sets the number of finished points.
  void count_to(std::size_t points) { counted_ = points; }
  [[nodiscard]] std::size_t counted() const { return counted_; }
  /// Shows the progress, at most ten times a second.
  void show();
  void clear() { line_.clear(); }

 private:
  std::string name_;
  std::size_t points_;
  std::size_t counted_ = 0;
  std::size_t not_done_ = 0;
  Stopwatch watch_;
  Progress line_;
};

/// "12 s", "3 min", "2.5 h"
std::string time_left(double seconds);

}  // namespace tessera::command
