#include "models/host/host.h"

#include <algorithm>

#include "models/chip/clock.h"
#include "sim/base/errors.h"
#include "sim/machine/nodes.h"

namespace tessera {
namespace {

constexpr std::size_t kTilesAPiece = 8;
constexpr std::byte kPoison{0xff};  // NaN in f16 and f32

void write(std::span<std::byte> sram, Address address, std::span<const std::byte> bytes) {
  check(std::uint64_t{address.count()} + bytes.size() <= sram.size(),
        "host: {} bytes at {:#x} do not fit into {} bytes of SRAM", bytes.size(), address.count(),
        sram.size());
  std::copy(bytes.begin(), bytes.end(), sram.begin() + address.count());
}

}  // namespace

Host::Host(const sc_core::sc_module_name& name, const MachineConfig& machine)
    : sc_module(name),
      socket("socket"),
      outside("outside"),
      link("link"),
      machine_(machine),
      tiles_(node_count(machine)) {}

void Host::load(const program::Program& program, const program::Images& images,
                HostThreads& threads, bool poison, const TimingProof* proof) {
  const auto& buffers = program.buffers();
  buffers_.reserve(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i)
    buffers_.push_back({buffers[i].tile, images.buffer_address[i]});
  const auto& outers = program.outers();
  for (std::size_t i = 0; i < outers.size(); ++i)
    outers_.push_back({outers[i].tile, images.outer_address[i]});
  const std::vector<std::span<std::byte>> srams = direct_memories();
  if (poison) this->poison(program, srams);
  threads.for_ranges(tiles_, kTilesAPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t tile = begin; tile < end; ++tile) {
      const program::TileImage& image = images.tiles[tile];
      write(srams[tile], Address(0), image.code->bytes);
      for (const program::Segment& segment : image.segments)
        write(srams[tile], segment.address, segment.bytes);
    }
  });
  write_inputs(program, images, 0, threads, proof);
  if (proof == nullptr) load_outside(program, threads);
}

/// Buffers in external memory are large: their contents are generated in pieces; for a platform's
/// memory they are written in batches, since SystemC may only be called on its own thread.
void Host::load_outside(const program::Program& program, HostThreads& threads) {
  constexpr std::uint64_t kPiece = 1U << 18;
  constexpr std::uint64_t kAtOnce = kPiece << 5;
  const auto& outers = program.outers();
  for (std::size_t i = 0; i < outers.size(); ++i) {
    const std::uint64_t bytes = outers[i].bytes;
    const auto [tile, address] = outers_[i];
    const std::span<std::byte> memory = outside->outside(tile, address, bytes);
    if (!outers[i].contents && !memory.empty()) continue;  // our own memory starts as zeros
    const auto fill = [&](std::span<std::byte> into, std::uint64_t from) {
      if (!outers[i].contents) return;
      threads.for_ranges(
          ceil_div<std::uint64_t>(into.size(), kPiece), 1, [&](std::size_t begin, std::size_t end) {
            for (std::uint64_t piece = begin; piece < end; ++piece) {
              const std::uint64_t at = piece * kPiece;
              outers[i].contents(from + at, into.subspan(at, std::min(kPiece, into.size() - at)));
            }
          });
    };
    if (!memory.empty()) fill(memory, 0);
    for (std::uint64_t at = 0; memory.empty() && at < bytes; at += kAtOnce) {
      std::vector<std::byte> some(std::min(kAtOnce, bytes - at));
      fill(some, at);
      outside->write_outside(tile, address + at, some);
    }
  }
}

void Host::poison(const program::Program& program,
                  std::span<const std::span<std::byte>> srams) const {
  const auto& buffers = program.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].initialised()) continue;
    const auto [tile, address] = buffers_[i];
    const auto bytes = srams[index(tile)].subspan(address.count(), buffers[i].bytes);
    std::fill(bytes.begin(), bytes.end(), kPoison);
  }
}

void Host::write_inputs(const program::Program& program, const program::Images& images,
                        std::uint32_t run, HostThreads& threads, const TimingProof* proof) {
  const std::vector<std::span<std::byte>> srams = direct_memories();
  threads.for_ranges(tiles_, kTilesAPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t tile = begin; tile < end; ++tile) {
      for (const program::BufferId id : images.tiles[tile].initialised) {
        if (proof != nullptr && !proof->looked_up[static_cast<std::size_t>(id)]) continue;
        const program::Buffer& buffer = program.buffer(id);
        const std::uint32_t address = buffers_[static_cast<std::size_t>(id)].address.count();
        buffer.fill(srams[tile].subspan(address, buffer.bytes), run);
      }
    }
  });
}

std::vector<std::span<std::byte>> Host::direct_memories() {
  std::vector<std::span<std::byte>> srams(tiles_);
  for (std::uint32_t i = 0; i < tiles_; ++i) srams[i] = direct_memory(TileId{i});
  return srams;
}

void Host::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  delay += access_time(Bytes(payload.get_data_length()));
  socket->b_transport(payload, delay);
}

unsigned Host::transport_dbg(tlm::tlm_generic_payload& payload) {
  return socket->transport_dbg(payload);
}

bool Host::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  return socket->get_direct_mem_ptr(payload, dmi);
}

sc_core::sc_time Host::access_time(Bytes bytes) const {
  return Clock(machine_.clock_ghz).duration(host_transfer_cycles(machine_, bytes));
}

std::span<const std::byte> Host::written(std::string_view transfer) const {
  auto& port = const_cast<decltype(link)&>(link);  // as below
  return port->written(transfer);
}

/// SystemC may only be called on its own thread; loading threads use this plain memory.
std::span<std::byte> Host::direct_memory(TileId tile) {
  tlm::tlm_generic_payload payload;
  tlm::tlm_dmi dmi;
  payload.set_address(sram_address(machine_, index(tile)));
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  check(socket->get_direct_mem_ptr(payload, dmi), "host: tile {} has no memory", index(tile));
  return {reinterpret_cast<std::byte*>(dmi.get_dmi_ptr()),
          memory_bytes(tile_of(machine_, index(tile)))};
}

void Host::read(program::Place place, std::span<std::byte> into) const {
  access(tlm::TLM_READ_COMMAND, place, into);
}

void Host::read(program::OuterPlace place, std::span<std::byte> into) const {
  const Outside& at = outers_.at(static_cast<std::size_t>(place.buffer));
  // The port's own access is not const, though reading changes nothing.
  auto& port = const_cast<decltype(outside)&>(outside);
  port->read_outside(at.tile, at.address + place.offset, into);
}

void Host::access(tlm::tlm_command command, program::Place place,
                  std::span<std::byte> bytes) const {
  const Location& location = buffers_.at(static_cast<std::size_t>(place.buffer));
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(sram_address(machine_, index(location.tile)) + location.address.count() +
                      place.offset);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(bytes.data()));
  payload.set_data_length(static_cast<unsigned>(bytes.size()));
  // The socket's own access is not const, though debug access changes nothing of the host's.
  auto& port = const_cast<tlm_utils::simple_initiator_socket<Host>&>(socket);
  check(port->transport_dbg(payload) == bytes.size(),
        "host: buffer {} does not hold {} bytes at offset {}",
        static_cast<std::uint32_t>(place.buffer), bytes.size(), place.offset);
}

}  // namespace tessera
