#pragma once

#include "sim/plan/description.h"
#include "sim/program/machine_costs.h"

namespace tessera::plan {

/// Cycles of the steps of rounds, without waits for transfers; `together`: the steps synchronise
/// tiles.
struct RoundWork {
  struct Part {
    std::uint64_t cycles = 0;
    bool together = false;
    OuterScript::Early early;  ///< by tile; empty: all end together
  };
  Part first, again, finish;
  std::uint64_t start_or_wait = 0;  ///< cycles of control code of either
};

/// True if these steps synchronise tiles that begin them at different times. `behind_wait`: no
/// barrier precedes the first step.
bool synchronises(const Sequence& steps, bool behind_wait);

/// Entries of all tiles in turn 0, with their steps. `addresses`: of external buffers.
std::vector<OuterLoad> entries_of(const Rounds& rounds, Transfer::What what,
                                  std::span<const std::uint64_t> addresses);

/// Number of list addresses that control code loads before a program's first barrier: of its first
/// steps, up to the next barrier or loop.
std::uint64_t first_lists(const Sequence& program, const MachineConfig& machine);

/// Rounds and their work.
struct WorkedRounds {
  const Rounds* rounds;
  RoundWork work;
  std::uint64_t begin = 0;  ///< cycle
};

/// Cycles of rounds with their transfers simulated on the machine's external memory; beyond
/// `most_requests` extrapolated from the first ones. Nothing if the machine cannot simulate them,
/// or if one round exceeds the limit.
/// `lead`: one turn directly before them, after which tiles continue independently; null: none. It
/// begins at `worked`'s begin; its own cycles are subtracted.
std::optional<std::uint64_t> round_cycles(const WorkedRounds& worked,
                                          std::span<const std::uint64_t> addresses,
                                          MachineCosts& costs, std::uint64_t most_requests,
                                          const WorkedRounds* lead = nullptr);

}  // namespace tessera::plan
