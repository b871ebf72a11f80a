#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sim/machine/machine_config.h"
#include "sim/program/fingerprint.h"
#include "sim/program/program.h"
#include "sim/report/run_result.h"

namespace tessera {

/// What the tiles of programs do, as far as energy depends on it, found without running a machine:
/// of each kind of tile one runs its vertices alone, exchanges are counted from their copies.
/// Tiles are of a kind if their vertices have the same arguments; of many kinds some are run and
/// speak for their neighbours. What the host gives is there; what an exchange would bring is zeros.
/// Leaves out: code whose way depends on bytes that an exchange brings or that tiles of a kind hold
/// apart; bytes that a schedule sends twice; bytes of transfers with the host while the program
/// runs. For several threads.
class ProgramActivity {
 public:
  /// What exchanges move of one tile's bytes.
  struct Moved {
    std::uint64_t sent = 0, received = 0, byte_micrometres = 0;
  };

  /// Sets the tiles' records of bytes and their activity in `into`. False where that cannot be
  /// known: a `While` has as many turns as its data want.
  bool estimate(const program::Program& program, const program::Fingerprint& identity,
                const MachineConfig& machine, RunResult& into);

 private:
  /// What a program's steps say of its tiles.
  struct Surveyed {
    std::vector<Moved> moved;                         ///< by tile
    std::vector<std::size_t> kind;                    ///< of each tile
    std::vector<std::uint32_t> first;                 ///< tile of each kind
    std::vector<std::vector<std::uint64_t>> sampled;  ///< the kinds that are run
    [[nodiscard]] std::uint32_t sample(std::size_t i) const;
  };
  /// The program and the ways between its tiles.
  using Key = std::pair<program::Fingerprint, std::array<std::uint32_t, 3>>;

  /// Null where it cannot be known.
  std::shared_ptr<const Surveyed> survey(const program::Program& program,
                                         const program::Fingerprint& identity,
                                         const MachineConfig& machine);
  /// What a tile does.
  struct Done {
    isa::ActivityCounts counts;
    ChannelRecord outside;  ///< of memory outside, by its workers
  };
  /// Of the sampled kinds.
  std::vector<Done> counts(const program::Program& program, const program::Fingerprint& identity,
                           const MachineConfig& machine, const Surveyed& surveyed);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Surveyed>> surveyed_;
  /// By program, vertices and what of a tile says what instructions do: not by what says when,
  /// unless workers reach memory outside, whose rows depend on it.
  std::map<std::string, Done> known_;
};

}  // namespace tessera
