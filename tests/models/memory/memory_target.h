#pragma once

#include <cstring>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

namespace tessera::sample {

/// The bytes of an external SystemC memory, which returns errors from address `refuses_from` on.
struct HeldBytes {
  explicit HeldBytes(std::size_t count) : bytes(count) {}

  /// Moves bytes in zero time; returns their number, 0 if any is out of range.
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::uint64_t at = payload.get_address();
    const unsigned count = payload.get_data_length();
    if (at > bytes.size() || count > bytes.size() - at) return 0;
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &bytes[at], count);
    if (payload.is_write()) std::memcpy(&bytes[at], payload.get_data_ptr(), count);
    return count;
  }
  /// As transport_dbg(), and sets the response status.
  void transfer(tlm::tlm_generic_payload& payload) {
    const bool moved =
        payload.get_address() < refuses_from && transport_dbg(payload) == payload.get_data_length();
    payload.set_response_status(moved ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }

  std::vector<unsigned char> bytes;
  std::uint64_t refuses_from = UINT64_MAX;
};

/// A loosely timed external memory: each access takes the same time, `waits` of it by wait() and
/// `adds` of it in the annotated delay.
class MemoryTarget : public sc_core::sc_module, public HeldBytes {
 public:
  MemoryTarget(const sc_core::sc_module_name& name, std::size_t size, const sc_core::sc_time& waits,
               const sc_core::sc_time& adds)
      : sc_module(name), HeldBytes(size), socket("socket"), waits_(waits), adds_(adds) {
    socket.register_b_transport(this, &MemoryTarget::b_transport);
    socket.register_transport_dbg(this, &MemoryTarget::transport_dbg);
  }
  tlm_utils::simple_target_socket<MemoryTarget> socket;
  std::vector<std::uint64_t> addresses;  ///< of all accesses, in order
  std::uint32_t most = 0;                ///< highest number of concurrent accesses

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    addresses.push_back(payload.get_address());
    most = std::max(most, ++under_way_);
    if (waits_ > sc_core::SC_ZERO_TIME) sc_core::wait(waits_);
    delay += adds_;
    --under_way_;
    transfer(payload);
  }

  sc_core::sc_time waits_, adds_;
  std::uint32_t under_way_ = 0;
};

}  // namespace tessera::sample
