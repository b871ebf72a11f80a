#include "models/chip/chip.h"

#include <algorithm>

#include "models/energy/area.h"
#include "models/host/host_link.h"
#include "models/memory/external_memory.h"
#include "sim/machine/nodes.h"

namespace tessera {
namespace {

/// Only the energy table needs distances; without it the floorplan stays empty.
fabric::Floorplan plan_of(const MachineConfig& machine) {
  return machine.has_energy ? energy::floorplan(machine) : fabric::Floorplan{};
}

/// Bytes that the program touches: none but lists and arguments where it computes no values.
std::uint64_t used_bytes(const Chip::Config& config, const program::Images& images) {
  return config.proof != nullptr ? 0 : program::summarise_memory(images).total_bytes;
}

}  // namespace

Chip::Chip(const sc_core::sc_module_name& name, const Config& config, const program::Images& images,
           const NodeSettings& settings, HostThreads& threads)
    : sc_module(name),
      socket("socket"),
      memory("memory"),
      settings_(settings),
      clock_(config.machine.clock_ghz),
      agenda_(clock_),
      sram_(config.machine, used_bytes(config, images)),
      accounts_(images, config.measure_host,
                {config.tile_steps, settings.common().count_activity, config.trace}),
      tiles_("tiles", {config.shuffle, config.progress}, images, settings, sram_, agenda_,
             accounts_, threads),
      fabric_("fabric", fabric::make_fabric(config.machine.fabric, plan_of(config.machine)),
              Agenda::fabric, agenda_, accounts_, threads),
      host_link_(
          "host_link",
          std::make_unique<HostLink>(config.machine, images.host_streams, config.measure_host),
          Agenda::host, agenda_, accounts_, threads),
      external_config_(config.machine.external),
      sync_("sync", Cycle(config.machine.sync.chip_cycles), agenda_, accounts_, tiles_.tiles()) {
  if (config.machine.has_external) make_memory(config.machine, threads);
  if (config.proof != nullptr) leave_values(*config.proof);
  tiles_.barriers.bind(sync_);
  tiles_.transfers.bind(fabric_);
  tiles_.host.bind(host_link_);
  fabric_.tiles.bind(tiles_);
  host_link_.tiles.bind(tiles_);
  sync_.tiles.bind(tiles_);
  socket.register_b_transport(this, &Chip::b_transport);
  socket.register_transport_dbg(this, &Chip::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &Chip::get_direct_mem_ptr);
}

void Chip::make_memory(const MachineConfig& machine, HostThreads& threads) {
  if (!external_config_.has_channels()) {
    platform_ = std::make_unique<PlatformMemory>("platform", clock_, agenda_);
    platform_->target.bind(memory);
  }
  auto external = std::make_unique<ExternalMemory>(machine, node_count(machine), platform_.get());
  external_ = external.get();
  memory_ = std::make_unique<FabricModule>("outside", std::move(external), Agenda::memory, agenda_,
                                           accounts_, threads);
  memory_->tiles.bind(tiles_);
  tiles_.outside.bind(*memory_);
  if (settings_.common().external)
    tiles_.reach([&](TileId tile) { return outside(tile, 0, external_config_.bytes()); });
  if (platform_ == nullptr) return;
  platform_->tell([this](const PlatformMemory::Answer& answer) {
    memory_->change([&] { external_->answer(answer.request, answer.cycle, answer.error); });
  });
}

void Chip::leave_values(const TimingProof& proof) {
  tiles_.replay(proof);
  fabric_.leave_values();
  host_link_.leave_values();
  if (memory_) memory_->leave_values();
}

std::span<std::byte> Chip::outside(TileId tile, std::uint64_t address, std::uint64_t bytes) {
  check(external_ != nullptr, "chip: there is no external memory");
  return external_->bytes(tile, address, bytes);
}

std::uint64_t Chip::platform_address(TileId tile, std::uint64_t address) const {
  return external_config_.reach == ExternalReach::tile
             ? index(tile) * external_config_.bytes() + address
             : address;
}

void Chip::read_outside(TileId tile, std::uint64_t address, std::span<std::byte> into) {
  if (platform_ != nullptr) return platform_->read(platform_address(tile, address), into);
  std::ranges::copy(outside(tile, address, into.size()), into.begin());
}

void Chip::write_outside(TileId tile, std::uint64_t address, std::span<const std::byte> from) {
  if (platform_ != nullptr) return platform_->write(platform_address(tile, address), from);
  std::ranges::copy(from, outside(tile, address, from.size()).begin());
}

const HostLink& Chip::link() const { return static_cast<const HostLink&>(host_link_.fabric()); }

std::span<const std::byte> Chip::written(std::string_view transfer) const {
  return link().written(transfer);
}

Bytes Chip::hosted() const { return link().moved(); }

void Chip::start() {
  const Cycle at = tiles_.begins_at();
  clock_.start(at, sc_core::sc_time_stamp());
  tiles_.begin(at);
}

RunResult Chip::result() const {
  RunResult result = accounts_.totals();
  tiles_.add_to(result);
  for (std::uint32_t i = 0; external_ != nullptr && i < external_->channels(); ++i)
    result.channels.push_back(external_->channel(i));
  if (settings_.common().external) add_worker_channels(result);
  return result;
}

/// Adds the channels of tiles whose workers access external memory: each such tile has its own.
void Chip::add_worker_channels(RunResult& result) const {
  auto record = result.channels.begin();
  for (const Tile& tile : tiles_.tiles()) {
    for (const DramChannel& channel : tile.channels()) *record++ = channel.statistics();
    if (tile.channels().empty()) record += external_config_.channels;
  }
}

}  // namespace tessera
