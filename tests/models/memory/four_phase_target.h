#pragma once

#include <systemc>
#include <tlm>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include "sim/base/errors.h"
#include "tests/models/memory/memory_target.h"

namespace tessera::sample {

/// An approximately timed memory: accepts a request after 2 ns, answers 20 ns later, one response
/// at a time, and checks the initiator's phases.
class FourPhaseTarget : public sc_core::sc_module, public HeldBytes {
 public:
  enum class Style {
    four,      ///< every phase is a backward call
    updated,   ///< END_REQ as the result of BEGIN_REQ
    skips,     ///< no END_REQ: BEGIN_RESP implies it
    early,     ///< TLM_COMPLETED, the delay contains all time
    in_result  ///< BEGIN_RESP as the result of BEGIN_REQ, the delay contains all time
  };
  FourPhaseTarget(const sc_core::sc_module_name& name, std::size_t size, Style style)
      : sc_module(name),
        HeldBytes(size),
        socket("socket"),
        style_(style),
        events_(this, &FourPhaseTarget::reach),
        takes_(2, sc_core::SC_NS),
        answers_(20, sc_core::SC_NS) {
    socket.register_nb_transport_fw(this, &FourPhaseTarget::nb_transport_fw);
    socket.register_transport_dbg(this, &FourPhaseTarget::transport_dbg);
  }
  tlm_utils::simple_target_socket<FourPhaseTarget, 64> socket;
  std::uint32_t most = 0;  ///< highest number of concurrent transactions
  std::uint32_t under_way = 0;

 private:
  using Payload = tlm::tlm_generic_payload;

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      check(responding_ == &payload, "END_RESP of another");
      responding_ = nullptr;
      --under_way;
      payload.release();
      return tlm::TLM_COMPLETED;
    }
    check(phase == tlm::BEGIN_REQ && payload.has_mm(), "not a request of the base protocol");
    check(requesting_ == nullptr, "a request before the one before it has ended");
    if (style_ == Style::early || style_ == Style::in_result) {
      transfer(payload);
      delay += takes_ + answers_;
      if (style_ == Style::early) return tlm::TLM_COMPLETED;
      payload.acquire();
      ++under_way;
      responding_ = &payload;
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    }
    payload.acquire();
    most = std::max(most, ++under_way);
    events_.notify(payload, tlm::BEGIN_RESP, takes_ + answers_);
    if (style_ == Style::updated) {
      phase = tlm::END_REQ;
      delay += takes_;
      return tlm::TLM_UPDATED;
    }
    requesting_ = &payload;
    if (style_ == Style::four) events_.notify(payload, tlm::END_REQ, takes_);
    return tlm::TLM_ACCEPTED;
  }
  void reach(Payload& payload, const tlm::tlm_phase& phase) {
    tlm::tlm_phase sent = phase;
    sc_core::sc_time delay;
    if (requesting_ == &payload) requesting_ = nullptr;
    if (phase == tlm::BEGIN_RESP) {
      check(responding_ == nullptr, "a response before END_RESP of the one before it");
      responding_ = &payload;
      transfer(payload);
    }
    socket->nb_transport_bw(payload, sent, delay);
  }

  Style style_;
  tlm_utils::peq_with_cb_and_phase<FourPhaseTarget> events_;
  sc_core::sc_time takes_, answers_;
  Payload* requesting_ = nullptr;
  Payload* responding_ = nullptr;
};

}  // namespace tessera::sample
