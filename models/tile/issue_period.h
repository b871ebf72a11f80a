#pragma once

#include <vector>

#include "models/tile/pipeline_lane.h"

namespace tessera {

/// Finds that contexts which compete for a pipeline issue in a pattern that repeats, and skips
/// whole periods of it: in loops, and in instructions of many slots. Timing: exact. What issues
/// next follows from each context's place in its code and from times relative to now; if both were
/// the same before, what has happened since happens again, for as long as every loop goes on and
/// every long instruction has slots left.
class IssuePeriod {
 public:
  struct Port {
    std::vector<PipelineLane>& lanes;
    engine::UnitTimes& units;
    std::uint64_t& free;  ///< when the port is
    std::uint32_t last;   ///< lane that issued last
  };

  /// Forgets what it has seen: a context has been started, or asked where its cycles went.
  void forget() { seen_.clear(); }
  /// After an issue at `now`: skips what it can of what comes before `limit`. True if it did.
  bool skip(const Port& port, std::uint64_t now, std::uint64_t limit);

 private:
  struct Counted {
    std::uint64_t times = 0;  ///< that its stretch is still to be issued
    std::uint32_t step = 0;
    Stalls stalls;
  };
  struct Place {
    std::uint64_t stretch = 0;
    std::size_t issued = 0;
    std::uint32_t eventful = 0;
    bool operator==(const Place&) const = default;
  };
  /// True if every context is in the middle of an instruction of many slots.
  [[nodiscard]] static bool all_within(const Port& port);
  /// True if the next state to be recorded may be recorded now.
  bool begins(const Port& port);
  /// True if comparing all contexts pays: after a few of their issues each. So code without
  /// periods, or with short ones, costs little more than without looking.
  bool pays(const Port& port);
  [[nodiscard]] static Place place(const PipelineLane& lane);
  [[nodiscard]] static bool may_repeat(const PipelineLane& lane);
  template <class Take>
  static void describe(const Port& port, std::uint64_t now, const Take& take);
  /// True if the state equals the recorded one.
  [[nodiscard]] bool recurs(const Port& port, std::uint64_t now) const;
  void keep(const Port& port, std::uint64_t now);
  [[nodiscard]] std::uint64_t periods(const Port& port) const;
  void advance(const Port& port, std::uint64_t times, std::uint64_t cycles) const;

  using State = std::vector<std::uint64_t>;
  State seen_;                    ///< places, and times relative to then
  std::vector<Counted> counted_;  ///< by lane, in that state
  Place place_;                   ///< the watched lane's, in that state
  std::uint32_t watched_ = 0;     ///< that lane's number
  std::uint64_t then_ = 0;
  std::uint64_t since_ = 0,
                renew_ = 1;     ///< looks since then; what is seen is renewed after so many
  std::uint64_t issues_ = 0;    ///< since then, or since a skip
  bool long_ = false;           ///< slots of long instructions were skipped last
  std::uint64_t credit_ = 256;  ///< issues that have not paid for a look yet
};

}  // namespace tessera
