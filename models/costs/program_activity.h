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

/// The energy-relevant activity of a program's tiles, without running a machine: one tile of each
/// kind runs its vertices alone; exchanges are counted from their copies. Tiles are of one kind if
/// their vertices have the same arguments; if there are many kinds, some are run and represent
/// their neighbours. The host's data are loaded; exchanged data are zeros. Leaves out: control flow
/// that depends on exchanged bytes or differs within a kind; bytes that a schedule sends twice;
/// host transfers while the program runs. Thread-safe.
class ProgramActivity {
 public:
  /// Bytes of one tile that exchanges move.
  struct Moved {
    std::uint64_t sent = 0, received = 0, byte_micrometres = 0;
  };

  /// Sets the tiles' records of bytes and their activity in `into`. False if unknown: a `While`
  /// iterates depending on data.
  bool estimate(const program::Program& program, const program::Fingerprint& identity,
                const MachineConfig& machine, RunResult& into);

 private:
  /// The kinds of a program's tiles and their exchanged bytes, from its steps.
  struct Surveyed {
    std::vector<Moved> moved;                         ///< by tile
    std::vector<std::size_t> kind;                    ///< by tile
    std::vector<std::uint32_t> first;                 ///< tile, by kind
    std::vector<std::vector<std::uint64_t>> sampled;  ///< by kind that is run
    [[nodiscard]] std::uint32_t sample(std::size_t i) const;
  };
  /// The program and the floorplan's three numbers.
  using Key = std::pair<program::Fingerprint, std::array<std::uint32_t, 3>>;

  /// Null if unknown.
  std::shared_ptr<const Surveyed> survey(const program::Program& program,
                                         const program::Fingerprint& identity,
                                         const MachineConfig& machine);
  /// The activity of one tile.
  struct Done {
    isa::ActivityCounts counts;
    ChannelRecord outside;  ///< its workers' use of external memory
  };
  /// The activity of each sampled kind.
  std::vector<Done> counts(const program::Program& program, const program::Fingerprint& identity,
                           const MachineConfig& machine, const Surveyed& surveyed);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Surveyed>> surveyed_;
  /// By program, vertices and the tile's functional keys; timing keys matter only if workers access
  /// external memory, whose row activations depend on them.
  std::map<std::string, Done> known_;
};

}  // namespace tessera
