#pragma once

#include "sim/plan/description.h"
#include "sim/program/machine_costs.h"

namespace tessera::plan {

/// Cycles of the steps of rounds without any waiting; `together`: tiles wait for each other in
/// them.
struct RoundWork {
  struct Part {
    std::uint64_t cycles = 0;
    bool together = false;
    OuterScript::Early early;  ///< by tile; none: all end together
  };
  Part first, again, finish;
  std::uint64_t start_or_wait = 0;  ///< control code of either
};

/// True if tiles that begin these steps at different times go on together. `behind_wait`: no
/// barrier is before the first step.
bool synchronises(const Sequence& steps, bool behind_wait);

/// Entries of all tiles in turn 0, with their steps. `addresses` are those of buffers outside.
std::vector<OuterLoad> entries_of(const Rounds& rounds, Transfer::What what,
                                  std::span<const std::uint64_t> addresses);

/// Lists of exchanges and transfers that tiles find before a program's first barrier: those of its
/// first steps, as far as these need no other barrier and are in no loop.
std::uint64_t first_lists(const Sequence& program, const MachineConfig& machine);

/// Rounds and their work.
struct WorkedRounds {
  const Rounds* rounds;
  RoundWork work;
  std::uint64_t begin = 0;  ///< cycle
};

/// Cycles of rounds as the machine's memory outside would carry them, of more than `most_requests`
/// the first ones and what more of them add; nothing if the machine does not say, or one round
/// alone is too much.
/// `lead`: one turn directly before them, in whose end tiles go on one by one; null: there is none.
/// It begins where they are said to, and what it takes by itself is left out.
std::optional<std::uint64_t> round_cycles(const WorkedRounds& worked,
                                          std::span<const std::uint64_t> addresses,
                                          MachineCosts& costs, std::uint64_t most_requests,
                                          const WorkedRounds* lead = nullptr);

}  // namespace tessera::plan
