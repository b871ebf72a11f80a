#pragma once

#include <csignal>

namespace tessera::command {

/// While it lives, SIGINT and SIGTERM end no process but are noticed; they come only while a wait
/// lets them through.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  [[nodiscard]] bool came() const;
  /// The mask of signals for such a wait (ppoll).
  [[nodiscard]] const sigset_t* let_through() const { return &before_; }

 private:
  sigset_t before_{};
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

}  // namespace tessera::command
