#include "sim/command/interruption.h"

namespace tessera::command {
namespace {

// Signals reach nothing else.
volatile std::sig_atomic_t came_ = 0;

void notice(int /*signal*/) { came_ = 1; }

}  // namespace

Interruption::Interruption() {
  came_ = 0;
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &both, &before_);
  struct sigaction action {};
  action.sa_handler = notice;
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
}

Interruption::~Interruption() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool Interruption::came() const { return came_ != 0; }

}  // namespace tessera::command
