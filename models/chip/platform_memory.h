#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>

#include "models/chip/agenda.h"
#include "models/chip/clock.h"
#include "models/memory/outer_target.h"

namespace tessera {

/// External memory that is a TLM target of the platform: a request that arrives in cycle c becomes
/// a blocking access, begun at the time of c on its own thread; its data pass in the cycle of
/// return time + annotated delay (Clock::cycle()). Accesses of one cycle begin by tile, then by
/// order of issue. Debug access takes no time. Leaves out: DMI.
class PlatformMemory : public sc_core::sc_module, public OuterTarget {
 public:
  struct Answer {
    std::uint32_t request;
    Cycle cycle;
    std::string error;  ///< the TLM response; empty: done
  };

  /// `clock` and `agenda` outlive it.
  PlatformMemory(const sc_core::sc_module_name& name, const Clock& clock, Agenda& agenda)
      : sc_module(name), target("target"), clock_(clock), agenda_(agenda) {}

  sc_core::sc_port<tlm::tlm_fw_transport_if<>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> target;

  /// Sets the callback for answers.
  void tell(std::function<void(const Answer&)> hearer) { hearer_ = std::move(hearer); }
  void send(const Request& request) override;

  /// Throw UserError if the target does not transfer all bytes.
  void read(std::uint64_t address, std::span<std::byte> into);
  void write(std::uint64_t address, std::span<const std::byte> from);

 private:
  void work();
  void access(const Request& request);
  void debug(tlm::tlm_command command, std::uint64_t address, std::byte* bytes,
             std::uint64_t count);

  const Clock& clock_;
  Agenda& agenda_;
  std::function<void(const Answer&)> hearer_;
  std::deque<Request> waiting_;              ///< to be begun in this instant
  std::vector<sc_core::sc_event*> resting_;  ///< threads without a request
};

}  // namespace tessera
