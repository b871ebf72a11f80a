#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/floorplan.h"
#include "sim/base/parallel.h"
#include "sim/base/types.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"
#include "sim/program/machine_costs.h"
#include "sim/trace/tile_log.h"

/// What moves bytes between the tiles of a chip: take these descriptor lists at these start times,
/// tell when each tile is done. One explicit table of kinds, in fabric.cpp.
namespace tessera::fabric {

/// A tile that has started an exchange.
struct Participant {
  TileId tile;
  Cycle start;
  std::span<std::byte> sram;
  Address list;  ///< of its descriptor list
};

struct Delivery {
  Cycle done;  ///< when the tile's wait ends
  Bytes sent;  ///< on the wire: bytes sent again count again
  Bytes received;
  std::uint64_t byte_micrometres;  ///< sent bytes x the way to their farthest receiver; 0 unless
                                   ///< the floorplan is known
};

struct Outcome {
  std::vector<Delivery> tiles;  ///< as the participants were given
  Bytes delivered;
  Bytes multicast;  ///< delivered to further receivers than the first of each send
};

/// A fabric moves the bytes of one exchange when its last participant has started. That is exact:
/// until its wait no tile may write what it sends or touch what it receives (design.md section 5).
class Fabric {
 public:
  virtual ~Fabric() = default;
  /// `participants`: exactly the tiles that hold a list of this exchange, in any order. Every
  /// source is read before any destination is written. Throws UserError naming tile and descriptor
  /// if a list or a range does not lie within SRAM, if sends and receives do not match, or if the
  /// lists are not those of one exchange.
  virtual Outcome exchange(std::span<const Participant> participants, HostThreads& threads) = 0;
  /// What each of the participants in an exchange that has just happened received: one transfer a
  /// descriptor.
  [[nodiscard]] virtual std::vector<trace::Transfer> transfers(
      std::span<const Participant> participants) const = 0;
};

/// The kinds' names, as in `machine.fabric.kind`.
std::vector<std::string> fabric_kinds();

/// Throw UserError listing the valid names if `config.kind` is none of them, or if a rate is 0.
std::unique_ptr<program::ExchangeCompiler> make_exchange_compiler(const FabricConfig& config);
/// What an exchange of this load takes at least, from its start to the last delivery.
Cycle estimate(const FabricConfig& config, const ExchangeLoad& load);
std::unique_ptr<Fabric> make_fabric(const FabricConfig& config, const Floorplan& floorplan = {});

}  // namespace tessera::fabric
