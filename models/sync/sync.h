#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <systemc>

#include "models/sync/barrier.h"

namespace tessera {

/// The chip's barriers as a module: one event a zone, notified at its release.
class Sync : public sc_core::sc_module {
 public:
  Sync(const sc_core::sc_module_name& name, const std::vector<Barrier::Config>& zones);

  [[nodiscard]] std::size_t zones() const { return zones_.size(); }
  [[nodiscard]] const Barrier& barrier(std::size_t zone) const { return zones_[zone]->barrier; }
  [[nodiscard]] Barrier& barrier(std::size_t zone) { return zones_[zone]->barrier; }
  [[nodiscard]] sc_core::sc_event& released(std::size_t zone) { return zones_[zone]->released; }

 private:
  struct Zone {
    Zone(Barrier::Config config, const char* name) : barrier(config), released(name) {}
    Barrier barrier;
    sc_core::sc_event released;
  };
  std::vector<std::unique_ptr<Zone>> zones_;
};

}  // namespace tessera
