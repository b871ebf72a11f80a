#pragma once

#include <deque>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

namespace tessera {

/// Stands between a loosely timed initiator, such as Machine::memory, and an approximately timed
/// target: each blocking access becomes a transaction of the base protocol (IEEE 1666-2011, 15.2).
///
///     machine.memory.bind(adapter.target);  adapter.initiator.bind(memory.socket);
///
/// Timing: adds none of its own. An access begins at its annotated delay; BEGIN_REQ follows when
/// the request before it is ended, in the order of accesses; END_RESP answers BEGIN_RESP at once,
/// where the access returns. The target may leave out END_REQ, answer by TLM_UPDATED, complete
/// early by TLM_COMPLETED, and annotate delays; several transactions may be under way, and end in
/// any order. Debug access goes through. Leaves out: DMI; phases that are extensions are ignored.
template <unsigned int kTargetBits = 32>
class FourPhaseAdapter : public sc_core::sc_module {
 public:
  explicit FourPhaseAdapter(const sc_core::sc_module_name& name)
      : sc_module(name),
        target("target"),
        initiator("initiator"),
        phases_(this, &FourPhaseAdapter::reach) {
    target.register_b_transport(this, &FourPhaseAdapter::b_transport);
    target.register_transport_dbg(this, &FourPhaseAdapter::transport_dbg);
    initiator.register_nb_transport_bw(this, &FourPhaseAdapter::nb_transport_bw);
  }
  FourPhaseAdapter(const FourPhaseAdapter&) = delete;
  FourPhaseAdapter& operator=(const FourPhaseAdapter&) = delete;

  tlm_utils::simple_target_socket<FourPhaseAdapter> target;
  tlm_utils::simple_initiator_socket<FourPhaseAdapter, kTargetBits> initiator;

 private:
  /// A transaction of ours: callers' have no memory manager, and targets may keep it.
  struct Access : tlm::tlm_generic_payload {
    explicit Access(tlm::tlm_mm_interface* manager) : tlm_generic_payload(manager) {}
    sc_core::sc_event turn, done;
    bool answered = false;
  };
  class Pool : public tlm::tlm_mm_interface {
   public:
    ~Pool() override {
      for (const auto* access : free_) delete access;
    }
    Access* take() {
      if (free_.empty()) return new Access(this);
      Access* const access = free_.back();
      free_.pop_back();
      return access;
    }
    void free(tlm::tlm_generic_payload* payload) override {
      payload->reset();
      free_.push_back(static_cast<Access*>(payload));
    }

   private:
    std::vector<Access*> free_;
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (delay > sc_core::SC_ZERO_TIME) sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    Access& access = *pool_.take();
    access.acquire();
    access.answered = false;
    access.set_command(payload.get_command());
    access.set_address(payload.get_address());
    access.set_data_ptr(payload.get_data_ptr());
    access.set_data_length(payload.get_data_length());
    access.set_streaming_width(payload.get_streaming_width());
    access.set_byte_enable_ptr(payload.get_byte_enable_ptr());
    access.set_byte_enable_length(payload.get_byte_enable_length());
    access.set_dmi_allowed(false);
    access.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    requests_.push_back(&access);
    if (requests_.front() != &access) sc_core::wait(access.turn);
    request(access);
    if (!access.answered) sc_core::wait(access.done);
    payload.set_response_status(access.get_response_status());
    access.release();
  }

  void request(Access& access) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    const tlm::tlm_sync_enum status = initiator->nb_transport_fw(access, phase, delay);
    // An early end is told as if the response had been answered.
    if (status == tlm::TLM_COMPLETED) phases_.notify(access, tlm::END_RESP, delay);
    if (status == tlm::TLM_UPDATED) phases_.notify(access, phase, delay);
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    phases_.notify(payload, phase, delay);
    return tlm::TLM_ACCEPTED;
  }

  /// A phase of the target's has come.
  void reach(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
    auto& access = static_cast<Access&>(payload);
    if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP && phase != tlm::END_RESP) return;
    end_request(access);
    if (phase == tlm::END_REQ) return;
    if (phase == tlm::BEGIN_RESP) {
      tlm::tlm_phase end = tlm::END_RESP;
      sc_core::sc_time delay;
      initiator->nb_transport_fw(access, end, delay);
    }
    access.answered = true;
    access.done.notify();
  }

  /// The next one may begin; nothing if the request has ended before.
  void end_request(const Access& access) {
    if (requests_.empty() || requests_.front() != &access) return;
    requests_.pop_front();
    if (!requests_.empty()) requests_.front()->turn.notify();
  }

  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    return initiator->transport_dbg(payload);
  }

  Pool pool_;
  std::deque<Access*> requests_;  ///< the first is with the target, the others wait
  tlm_utils::peq_with_cb_and_phase<FourPhaseAdapter> phases_;
};

}  // namespace tessera
