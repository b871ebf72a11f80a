#pragma once

#include <algorithm>
#include <array>
#include <exception>

#include <systemc>

#include "models/chip/clock.h"
#include "sim/base/types.h"

namespace tessera {

/// Orders a chip's modules: the earliest cycle goes first; within one cycle barriers release, then
/// tiles run, then bytes move (fabric, external memory, host). So results never depend on the order
/// of SystemC's simultaneous events, even where several cycles share one instant of SystemC time.
/// Keeps a module's exception: SystemC must not see it, and no module goes on.
class Agenda {
 public:
  enum Module : std::uint8_t { sync, tiles, fabric, memory, host };
  static constexpr std::size_t kModules = 5;

  explicit Agenda(const Clock& clock) : clock_(clock), ended_("ended") { next_.fill(kNever); }

  /// The next event of one module, in cycles; its sc_event fires at the matching SystemC time.
  class Alarm {
   public:
    Alarm(Agenda& agenda, Module module, const char* name)
        : agenda_(agenda), module_(module), event_(name) {}

    /// Sets the alarm to `cycle`, replacing an earlier setting. Throws OutOfTime.
    void set(Cycle cycle);
    void clear() { agenda_.next_[module_] = kNever; }
    /// True if its cycle has come and no other module goes first; otherwise notifies again.
    bool rings();
    [[nodiscard]] Cycle cycle() const { return agenda_.next_[module_]; }
    [[nodiscard]] const sc_core::sc_event& event() const { return event_; }

   private:
    Agenda& agenda_;
    Module module_;
    sc_core::sc_event event_;
  };

  /// A cycle lies after the last one that simulated time can express.
  struct OutOfTime {
    Cycle last;
  };
  /// No event is pending, but not all tiles have ended.
  struct Deserted {};

  /// Announces an answer from outside the chip; until settle(), having no event is not a deadlock.
  void owe() { ++owed_; }
  void settle() { --owed_; }

  /// Does a module's work while nothing has failed.
  template <class Work>
  void run(Work work) {
    if (failure_) return;
    try {
      work();
      const bool over = std::ranges::all_of(next_, [](Cycle next) { return next == kNever; });
      if (open_ && owed_ == 0 && over) throw Deserted{};
    } catch (...) {
      failure_ = std::current_exception();
      next_.fill(kNever);
      ended_.notify(sc_core::SC_ZERO_TIME);
    }
  }

  /// begin(): a run begins. end(): its last tile ends at `cycle`.
  void begin() { open_ = true; }
  void end(Cycle cycle);
  /// Notified at that end, or when the run fails.
  [[nodiscard]] const sc_core::sc_event& ended() const { return ended_; }
  /// Null if nothing has failed.
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

 private:
  static constexpr Cycle kNever{UINT64_MAX};

  void notify(sc_core::sc_event& event, Cycle cycle) const;

  const Clock& clock_;
  std::array<Cycle, kModules> next_{};  ///< by module
  bool open_ = false;                   ///< a run is going on
  std::uint64_t owed_ = 0;              ///< answers outstanding
  std::exception_ptr failure_;
  sc_core::sc_event ended_;
};

}  // namespace tessera
