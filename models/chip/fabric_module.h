#pragma once

#include <memory>

#include <systemc>

#include "models/chip/accounts.h"
#include "models/chip/agenda.h"
#include "models/chip/modules.h"
#include "models/fabric/fabric.h"
#include "sim/base/parallel.h"

namespace tessera {

/// The module that carries a chip's transfers: the fabric, external memory or the host link. Its
/// process advances the carrier to its next event and tells the tiles which bytes have moved.
class FabricModule : public sc_core::sc_module, public TransferPort {
 public:
  /// `agenda`, `accounts` and `threads` outlive it.
  FabricModule(const sc_core::sc_module_name& name, std::unique_ptr<fabric::Fabric> fabric,
               Agenda::Module turn, Agenda& agenda, Accounts& accounts, HostThreads& threads)
      : sc_module(name),
        tiles("tiles"),
        fabric_(std::move(fabric)),
        agenda_(agenda),
        accounts_(accounts),
        threads_(threads),
        alarm_(agenda, turn, "advances") {
    SC_HAS_PROCESS(FabricModule);
    SC_METHOD(advance);
    sensitive << alarm_.event();
    dont_initialize();
  }

  sc_core::sc_port<TilePort> tiles;

  void leave_values() { fabric_->leave_values(); }

  void submit(const fabric::Participant& side) override {
    fabric_->submit(side);
    ring();
  }
  void begin() override { fabric_->begin(); }
  /// Runs `work`, which comes from outside the chip, then re-arms the alarm.
  template <class Work>
  void change(const Work& work) {
    agenda_.run([&] {
      work();
      ring();
    });
  }
  [[nodiscard]] Cycle lookahead() const override { return fabric_->lookahead(); }
  [[nodiscard]] const fabric::Fabric& fabric() const { return *fabric_; }

 private:
  void ring() {
    const std::optional<Cycle> next = fabric_->next_event();
    if (!next)
      alarm_.clear();
    else if (*next != alarm_.cycle())
      alarm_.set(*next);
  }
  void advance() {
    agenda_.run([this] {
      while (alarm_.rings()) {
        for (const fabric::Moved& moved : fabric_->advance(alarm_.cycle(), threads_)) {
          accounts_.moved(*fabric_, moved);
          tiles->deliver(moved);
        }
        ring();
      }
    });
  }

  std::unique_ptr<fabric::Fabric> fabric_;
  Agenda& agenda_;
  Accounts& accounts_;
  HostThreads& threads_;
  Agenda::Alarm alarm_;
};

}  // namespace tessera
