#pragma once

#include <vector>

#include "models/tile/pipeline_lane.h"

namespace tessera {

/// Detects that contexts of a shared pipeline issue in a periodic pattern and skips whole periods:
/// in loops and in instructions of many slots. Timing: exact. The next issues depend only on each
/// context's place in its code and on times relative to now; if both equal an earlier state, the
/// issues since then repeat while every loop continues and every long instruction has slots left.
class IssuePeriod {
 public:
  struct Port {
    std::vector<PipelineLane>& lanes;
    engine::UnitTimes& units;
    std::uint64_t& free;  ///< from when the port is free
    std::uint32_t last;   ///< lane that issued last
  };

  /// Drops the recorded state, because a context was started or its stalls were taken.
  void forget() { seen_.clear(); }
  /// Called after an issue at `now`: skips whole periods that end before `limit`. True if it
  /// skipped any.
  bool skip(const Port& port, std::uint64_t now, std::uint64_t limit);

 private:
  struct Counted {
    std::uint64_t times = 0;  ///< remaining repetitions of its stretch
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
  /// True if a new state may be recorded now.
  bool begins(const Port& port);
  /// True if comparing all contexts pays, that is, after a few issues of each. So code without
  /// periods, or with short ones, costs little more than without detection.
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
  State seen_;                    ///< recorded state: places, and times relative to then_
  std::vector<Counted> counted_;  ///< by lane, in that state
  Place place_;                   ///< of the watched lane, in that state
  std::uint32_t watched_ = 0;     ///< that lane's number
  std::uint64_t then_ = 0;
  std::uint64_t since_ = 0,
                renew_ = 1;     ///< comparisons since then_; the state is renewed after renew_
  std::uint64_t issues_ = 0;    ///< since then, or since a skip
  bool long_ = false;           ///< slots of long instructions were skipped last
  std::uint64_t credit_ = 256;  ///< issues not yet spent on comparisons
};

}  // namespace tessera
