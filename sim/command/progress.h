#pragma once

#include <string>

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

 private:
  bool shown_;
};

}  // namespace tessera::command
