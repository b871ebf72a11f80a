#pragma once

#include <string>

namespace tessera::command {

/// What is going on, on one line of stderr; only where that is a terminal.
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
