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

/// The activity of a program's tiles, as far as energy depends on it, without running a machine:
/// one tile of each kind runs its vertices alone, exchanges are counted from their copies.
/// Tiles are of a kind if their vertices have the same arguments; if there are many kinds, some run
/// and stand for their neighbours. The host's data are there; exchanged data are zeros.
/// Leaves out: code whose way depends on bytes that an exchange brings or that tiles of a kind hold
/// apart; bytes that a schedule sends twice; bytes of transfers with the host while the program
/// runs. For several threads.
class ProgramActivity {
 public:
  /// Bytes of one tile that exchanges move.
  struct Moved {
    std::uint64_t sent = 0, received = 0, byte_micrometres = 0;
  };

  /// Sets the tiles' records of bytes and their activity in `into`. False where that cannot be
  /// known: a `While` has as many turns as its data want.
  bool estimate(const program::Program& program, const program::Fingerprint& identity,
                const MachineConfig& machine, RunResult& into);

 private:
  /// The kinds of a program's tiles and their exchanged bytes, from its steps.
  struct Surveyed {
    std::vector<Moved> moved;                         ///< by tile
    std::vector<std::size_t> kind;                    ///< by tile
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
  /// The activity of one tile.
  struct Done {
    isa::ActivityCounts counts;
    ChannelRecord outside;  ///< its workers' use of memory outside
  };
  /// The activity of each sampled kind.
  std::vector<Done> counts(const program::Program& program, const program::Fingerprint& identity,
                           const MachineConfig& machine, const Surveyed& surveyed);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Surveyed>> surveyed_;
  /// By program, vertices and the tile's functional keys: not by timing keys, unless workers reach
  /// memory outside, whose rows depend on them.
  std::map<std::string, Done> known_;
};

}  // namespace tessera
