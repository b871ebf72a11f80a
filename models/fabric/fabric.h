#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/floorplan.h"
#include "models/fabric/node_ports.h"
#include "sim/base/parallel.h"
#include "sim/base/types.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"
#include "sim/program/machine_costs.h"
#include "sim/program/transfer_list.h"
#include "sim/trace/tile_log.h"

/// Fabrics move bytes between the tiles of a chip. One explicit table of kinds, in fabric.cpp.
namespace tessera::fabric {

class KeptSchedules;

/// A tile's side of a transfer.
struct Participant {
  TileId tile;
  Cycle start;
  std::span<std::byte> sram;
  Address list;  ///< of its descriptor list
};

/// Names a tile's side of a transfer in flight, for its wait.
struct Token {
  TileId tile;
  Address list;
};

/// The completion of one side of a transfer.
struct Delivery {
  Cycle done;  ///< a wait for it ends here
  Bytes sent;  ///< on the wire: repeated sends count again
  Bytes received;
  std::uint64_t byte_micrometres;  ///< sent bytes x distance to their farthest receiver; 0 unless
                                   ///< the floorplan is known
};

/// A transfer whose bytes have moved.
struct Moved {
  std::uint32_t exchange;                 ///< its number within the program
  Cycle ready;                            ///< its last participant has started
  Cycle begin;                            ///< its ports are free too: bytes move from here on
  std::vector<Participant> participants;  ///< by tile
  std::vector<Delivery> tiles;            ///< one per participant
  Bytes delivered;
  Bytes multicast;  ///< delivered beyond the first receiver of each send
  /// Its carrier; transfers with external memory have one participant.
  program::Carrier carrier = program::Carrier::fabric;
};

/// A fabric runs on events: tiles submit their sides of transfers, of which several may be in
/// flight and share ports; the chip advances the fabric to its next event when every tile has run
/// up to it. Bytes are read once all participants have started; they become visible at the wait;
/// until then no tile may write what it sends or access what it receives (design.md section 5).
class Fabric {
 public:
  virtual ~Fabric() = default;
  /// From now on only descriptor lists in SRAM are read: no bytes need to move. Times and counts
  /// stay.
  virtual void leave_values() {}
  /// Begins a run; called again for each later one.
  virtual void begin() {}
  /// Starts not before the last advance(). A tile has at most one side per list in flight. Throws
  /// UserError for a broken descriptor list.
  virtual Token submit(const Participant& side) = 0;
  /// The cycle of the next event, unless something is submitted before; nothing if there is none.
  [[nodiscard]] virtual std::optional<Cycle> next_event() const = 0;
  /// Executes all events up to and including `to`. Deliveries may lie beyond it. Events of one
  /// cycle, in one call, do not depend on the order of submit(). Every source of a transfer is read
  /// before any of its destinations is written. Throws UserError naming tile and descriptor if a
  /// list or a range does not lie within SRAM, or if sends and receives do not match.
  virtual std::vector<Moved> advance(Cycle to, HostThreads& threads) = 0;
  /// Cycles after an event in which the fabric affects tiles only at their waits: they may run
  /// ahead this far.
  [[nodiscard]] virtual Cycle lookahead() const = 0;
  /// The side's wait reason: "exchange 3, waiting for 2 of 16 participants".
  [[nodiscard]] virtual std::string missing(Token side) const = 0;
  /// Received bytes of a transfer that advance() returned: one entry per descriptor.
  [[nodiscard]] virtual std::vector<trace::Transfer> transfers(const Moved& moved) const = 0;
};

/// The kinds' names, as in `machine.fabric.kind`.
std::vector<std::string> fabric_kinds();

/// Throw UserError listing the valid names if `config.kind` is none of them, or if a rate is 0.
/// `nodes`: ports, for a machine with other classes of nodes than compute tiles. `kept`: schedule
/// cache, used by fabrics with schedules.
std::unique_ptr<program::ExchangeCompiler> make_exchange_compiler(const FabricConfig& config,
                                                                  const NodePorts& nodes = {},
                                                                  KeptSchedules* kept = nullptr);
/// Lower bound on the cycles of an exchange of this load between compute tiles, from its start to
/// the last delivery.
Cycle estimate(const FabricConfig& config, const ExchangeLoad& load);
/// Cycles that bytes travel from one compute tile to another.
Cycle way(const FabricConfig& config, std::uint32_t from, std::uint32_t to);
std::unique_ptr<Fabric> make_fabric(const FabricConfig& config, const Floorplan& floorplan = {});

}  // namespace tessera::fabric
