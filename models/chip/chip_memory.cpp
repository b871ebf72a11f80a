#include <cstring>

#include "models/chip/chip.h"

// TLM access to the SRAMs: one socket decodes the tile.
namespace tessera {
namespace {

/// The bytes a transaction addresses; empty if they do not lie within one tile's SRAM.
std::span<std::byte> decode(const Sram& sram, const tlm::tlm_generic_payload& payload) {
  const std::optional<Sram::Spot> spot = sram.find(payload.get_address());
  if (!spot) return {};
  const std::span<std::byte> all = sram.tile(spot->tile);
  const std::uint64_t offset = payload.get_address() - spot->begin;
  const std::uint64_t bytes = payload.get_data_length();
  return offset + bytes > all.size() ? std::span<std::byte>{} : all.subspan(offset, bytes);
}

}  // namespace

/// Moves the bytes at once; the host adds the time that its link takes.
void Chip::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  const bool moved = transport_dbg(payload) == payload.get_data_length();
  payload.set_dmi_allowed(moved);
  payload.set_response_status(moved ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

unsigned Chip::transport_dbg(tlm::tlm_generic_payload& payload) {
  const std::span<std::byte> bytes = decode(sram_, payload);
  if (bytes.empty()) return 0;
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), bytes.data(), bytes.size());
  if (payload.is_write()) std::memcpy(bytes.data(), payload.get_data_ptr(), bytes.size());
  return static_cast<unsigned>(bytes.size());
}

/// Grants the SRAM of the addressed tile.
bool Chip::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const std::optional<Sram::Spot> spot = sram_.find(payload.get_address());
  if (!spot) return false;
  const std::span<std::byte> sram = sram_.tile(spot->tile);
  dmi.allow_read_write();
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(sram.data()));
  dmi.set_start_address(spot->begin);
  dmi.set_end_address(spot->begin + sram.size() - 1);
  return true;
}

}  // namespace tessera
