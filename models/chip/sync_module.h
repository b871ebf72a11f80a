#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <systemc>

#include "models/chip/accounts.h"
#include "models/chip/agenda.h"
#include "models/chip/modules.h"
#include "models/sync/barrier.h"

namespace tessera {

/// The chip's barriers as a module: its process releases a zone.
class Sync : public sc_core::sc_module, public BarrierPort {
 public:
  /// Makes a barrier for each of `accounts`' zones. `agenda`, `accounts` and `all_tiles`, which is
  /// filled later, outlive it.
  Sync(const sc_core::sc_module_name& name, Cycle latency, Agenda& agenda, Accounts& accounts,
       const std::vector<Tile>& all_tiles);

  sc_core::sc_port<TilePort> tiles;

  void arrive(const ArrivalGroup& group) override;

  [[nodiscard]] const Barrier& barrier(std::size_t zone) const { return zones_[zone].barrier; }

  /// Tiles of one zone wait for different steps.
  struct BranchedApart {
    std::uint32_t zone;
  };

 private:
  struct Zone {
    explicit Zone(Barrier::Config config) : barrier(config) {}
    Barrier barrier;
    std::uint32_t sync_step = program::kNoStep;  ///< the step that arrived tiles wait for
    std::optional<Cycle> release;                ///< pending
  };

  void go_on();
  void release_next();
  void ring();

  Agenda& agenda_;
  Accounts& accounts_;
  const std::vector<Tile>& all_tiles_;
  Agenda::Alarm alarm_;
  std::vector<Zone> zones_;
};

}  // namespace tessera
