#include "models/chip/platform_memory.h"

#include <algorithm>
#include <sysc/kernel/sc_dynamic_processes.h>

#include "sim/base/errors.h"

namespace tessera {
namespace {

void fill(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::uint64_t address,
          std::byte* bytes, std::size_t count) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(bytes));
  payload.set_data_length(static_cast<unsigned>(count));
  payload.set_streaming_width(static_cast<unsigned>(count));
}

}  // namespace

/// Spawns a thread only when all others are busy: as many threads as concurrent accesses.
void PlatformMemory::send(const Request& request) {
  agenda_.owe();
  waiting_.push_back(request);
  if (resting_.empty()) {
    sc_core::sc_spawn([this] { work(); }, sc_core::sc_gen_unique_name("access"));
    return;
  }
  resting_.back()->notify(sc_core::SC_ZERO_TIME);
  resting_.pop_back();
}

/// Body of one access thread.
void PlatformMemory::work() {
  sc_core::sc_event begin;
  for (;;) {
    while (!waiting_.empty()) {
      const Request request = waiting_.front();
      waiting_.pop_front();
      access(request);
    }
    resting_.push_back(&begin);
    sc_core::wait(begin);
  }
}

void PlatformMemory::access(const Request& request) {
  tlm::tlm_generic_payload payload;
  fill(payload, request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, request.address,
       request.data.data(), request.data.size());
  sc_core::sc_time delay;
  target->b_transport(payload, delay);
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  const sc_core::sc_time end = now + std::min(delay, sc_core::sc_max_time() - now);
  agenda_.settle();
  hearer_({request.number, clock_.cycle(end),
           payload.is_response_ok() ? std::string() : payload.get_response_string()});
}

void PlatformMemory::read(std::uint64_t address, std::span<std::byte> into) {
  debug(tlm::TLM_READ_COMMAND, address, into.data(), into.size());
}

void PlatformMemory::write(std::uint64_t address, std::span<const std::byte> from) {
  debug(tlm::TLM_WRITE_COMMAND, address, const_cast<std::byte*>(from.data()), from.size());
}

void PlatformMemory::debug(tlm::tlm_command command, std::uint64_t address, std::byte* bytes,
                           std::uint64_t count) {
  constexpr std::uint64_t kPiece = 1U << 20;
  for (std::uint64_t at = 0; at < count; at += kPiece) {
    const std::uint64_t wanted = std::min(kPiece, count - at);
    tlm::tlm_generic_payload payload;
    fill(payload, command, address + at, bytes + at, wanted);
    const unsigned moved = target->transport_dbg(payload);
    if (moved == wanted) continue;
    throw UserError("the platform's memory {} {} of {} bytes at {:#x} by debug access",
                    command == tlm::TLM_READ_COMMAND ? "gives" : "takes", moved, wanted,
                    address + at);
  }
}

}  // namespace tessera
