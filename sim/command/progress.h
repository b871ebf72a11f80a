#pragma once

#include <string>

#include "sim/base/stopwatch.h"

namespace tessera::command {

/// Opens those of standard input, output and error that the caller has closed, so that no file of
/// ours takes their place. Reading and writing them still fails.
void occupy_standard_streams();

/// Writes to standard error, legibly (sim/base/errors.h); a message that cannot be written is lost.
void tell(const std::string& text);

/// Shows on one line of stderr what is going on; only where stderr is a terminal.
class Progress {
 public:
  explicit Progress(bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(const std::string& text);
  void clear();
  [[nodiscard]] bool shown() const { return shown_; }
  /// True at most ten times a second, for who has often something to show.
  [[nodiscard]] bool is_due();

 private:
  bool shown_;
  Stopwatch watch_;
  double due_at_ = 0;  ///< in seconds of watch_
};

/// How far a sweep or a validation set is: points done, how many a second, the time left.
class SweepProgress {
 public:
  SweepProgress(std::string name, std::size_t points, bool quiet)
      : name_(std::move(name)), points_(points), line_(quiet) {}

  /// Counts a point that has ended with this status.
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
  Stopwatch watch_;
  Progress line_;
};

/// "12 s", "3 min", "2.5 h"
std::string time_left(double seconds);

}  // namespace tessera::command
