#pragma once

#include <map>
#include <vector>

#include <systemc>

#include "models/chip/exchanges.h"

namespace tessera {

/// The chip's fabric as a module: exchanges being gathered, and one event for those that are done.
class ExchangeModule : public sc_core::sc_module {
 public:
  ExchangeModule(const sc_core::sc_module_name& name, std::unique_ptr<fabric::Fabric> fabric)
      : sc_module(name), exchanges(std::move(fabric)), done("done") {}

  Exchanges exchanges;
  sc_core::sc_event done;  ///< notified at the first of `waiting`
  /// Tiles that go on when their exchange is done, by the cycle of the first of them.
  std::multimap<Cycle, std::vector<TileId>> waiting;
};

}  // namespace tessera
