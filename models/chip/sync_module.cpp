#include "models/chip/sync_module.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera {

Sync::Sync(const sc_core::sc_module_name& name, Cycle latency, Agenda& agenda, Accounts& accounts,
           const std::vector<Tile>& all_tiles)
    : sc_module(name),
      tiles("tiles"),
      agenda_(agenda),
      accounts_(accounts),
      all_tiles_(all_tiles),
      alarm_(agenda, Agenda::sync, "releases") {
  for (const std::vector<TileId>& zone : accounts.zones())
    zones_.emplace_back(Barrier::Config{static_cast<std::uint32_t>(zone.size()), latency});
  SC_HAS_PROCESS(Sync);
  SC_METHOD(go_on);
  sensitive << alarm_.event();
  dont_initialize();
}

void Sync::arrive(const ArrivalGroup& group) {
  Zone& zone = zones_[group.zone];
  if (zone.barrier.arrived() == 0) zone.sync_step = group.sync_step;
  if (zone.sync_step != group.sync_step) throw BranchedApart{group.zone};
  accounts_.arrive(group);
  const auto release = zone.barrier.arrive(group.arrivals);
  if (!release) return;
  zone.release = release->at;
  ring();
}

void Sync::ring() {
  std::optional<Cycle> first;
  for (const Zone& zone : zones_)
    if (zone.release && (!first || *zone.release < *first)) first = zone.release;
  if (!first)
    alarm_.clear();
  else if (*first != alarm_.cycle())
    alarm_.set(*first);
}

void Sync::go_on() {
  agenda_.run([this] {
    while (alarm_.rings()) release_next();
  });
}

/// Releases the lowest zone that is due.
void Sync::release_next() {
  const auto due = [this](const Zone& each) { return each.release == alarm_.cycle(); };
  Zone& zone = *std::ranges::find_if(zones_, due);
  const auto number = static_cast<std::uint32_t>(&zone - zones_.data());
  const Cycle at = *zone.release;
  zone.release.reset();
  tiles->release({number, at, accounts_.close(number, all_tiles_, at)});
  ring();
}

}  // namespace tessera
