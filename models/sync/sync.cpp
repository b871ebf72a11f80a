#include "models/sync/sync.h"

#include <string>

namespace tessera {

Sync::Sync(const sc_core::sc_module_name& name, const std::vector<Barrier::Config>& zones)
    : sc_module(name) {
  for (const Barrier::Config& zone : zones)
    zones_.push_back(
        std::make_unique<Zone>(zone, ("released_" + std::to_string(zones_.size())).c_str()));
}

}  // namespace tessera
