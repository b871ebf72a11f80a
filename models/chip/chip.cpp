#include "models/chip/chip.h"

#include "models/energy/area.h"

namespace tessera {
namespace {

/// Distances are asked for by the energy table alone.
fabric::Floorplan plan_of(const MachineConfig& machine) {
  return machine.has_energy ? energy::floorplan(machine) : fabric::Floorplan{};
}

}  // namespace

Chip::Chip(const sc_core::sc_module_name& name, const Config& config, const program::Images& images,
           const NodeSettings& settings, HostThreads& threads)
    : sc_module(name),
      socket("socket"),
      host("host"),
      settings_(settings),
      clock_(config.machine.clock_ghz),
      agenda_(clock_),
      sram_(config.machine),
      accounts_(images, config.measure_host,
                {config.tile_steps, settings.common().count_activity, config.trace}),
      tiles_("tiles", {config.shuffle, config.progress}, images, settings, sram_, agenda_,
             accounts_, threads),
      fabric_("fabric", fabric::make_fabric(config.machine.fabric, plan_of(config.machine)),
              agenda_, accounts_, threads),
      sync_("sync", Cycle(config.machine.sync.chip_cycles), agenda_, accounts_, tiles_.tiles()) {
  tiles_.barriers.bind(sync_);
  tiles_.transfers.bind(fabric_);
  fabric_.tiles.bind(tiles_);
  sync_.tiles.bind(tiles_);
  sync_.host.bind(host);
  socket.register_b_transport(this, &Chip::b_transport);
  socket.register_transport_dbg(this, &Chip::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &Chip::get_direct_mem_ptr);
}

void Chip::start() {
  const Cycle at = tiles_.begins_at();
  clock_.start(at, sc_core::sc_time_stamp());
  tiles_.begin(at);
}

RunResult Chip::result() const {
  RunResult result = accounts_.totals();
  tiles_.add_to(result);
  return result;
}

}  // namespace tessera
