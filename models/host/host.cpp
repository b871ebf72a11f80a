#include "models/host/host.h"

#include <algorithm>
#include <cmath>

#include "sim/base/errors.h"

namespace tessera {
namespace {

constexpr std::size_t kTilesAPiece = 8;

void write(std::span<std::byte> sram, Address address, std::span<const std::byte> bytes) {
  check(std::uint64_t{address.count()} + bytes.size() <= sram.size(),
        "host: {} bytes at {:#x} do not fit into {} bytes of SRAM", bytes.size(), address.count(),
        sram.size());
  std::copy(bytes.begin(), bytes.end(), sram.begin() + address.count());
}

}  // namespace

Host::Host(const sc_core::sc_module_name& name, std::uint32_t tiles, std::uint64_t bytes_per_tile)
    : sc_module(name), socket("socket"), tiles_(tiles), bytes_per_tile_(bytes_per_tile) {}

void Host::load(const program::Program& program, const program::Images& images,
                HostThreads& threads) {
  const auto& buffers = program.buffers();
  buffers_.reserve(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i)
    buffers_.push_back({buffers[i].tile, images.buffer_address[i]});
  const std::vector<std::span<std::byte>> srams = direct_memories();
  threads.for_ranges(tiles_, kTilesAPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t tile = begin; tile < end; ++tile) {
      const program::TileImage& image = images.tiles[tile];
      write(srams[tile], Address(0), image.code->bytes);
      for (const program::Segment& segment : image.segments)
        write(srams[tile], segment.address, segment.bytes);
    }
  });
  write_inputs(program, images, 0, threads);
}

void Host::write_inputs(const program::Program& program, const program::Images& images,
                        std::uint32_t run, HostThreads& threads) {
  const std::vector<std::span<std::byte>> srams = direct_memories();
  threads.for_ranges(tiles_, kTilesAPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t tile = begin; tile < end; ++tile) {
      for (const program::BufferId id : images.tiles[tile].initialised) {
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

Cycle Host::transfer_cycles(Bytes bytes, const MachineConfig& machine) {
  const double nanoseconds = static_cast<double>(bytes.count()) / machine.host.gigabytes_per_second;
  return Cycle(static_cast<std::uint64_t>(std::ceil(nanoseconds * machine.clock_ghz)));
}

/// SystemC is asked on its own thread only; the threads that load use plain memory.
std::span<std::byte> Host::direct_memory(TileId tile) {
  tlm::tlm_generic_payload payload;
  tlm::tlm_dmi dmi;
  payload.set_address(index(tile) * bytes_per_tile_);
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  check(socket->get_direct_mem_ptr(payload, dmi), "host: tile {} has no memory", index(tile));
  return {reinterpret_cast<std::byte*>(dmi.get_dmi_ptr()), bytes_per_tile_};
}

void Host::read(program::Place place, std::span<std::byte> into) const {
  const Location& location = buffers_.at(static_cast<std::size_t>(place.buffer));
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(index(location.tile) * bytes_per_tile_ + location.address.count() +
                      place.offset);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(into.data()));
  payload.set_data_length(static_cast<unsigned>(into.size()));
  // The socket's own access is not const, though a debug read changes nothing.
  auto& port = const_cast<tlm_utils::simple_initiator_socket<Host>&>(socket);
  check(port->transport_dbg(payload) == into.size(),
        "host: buffer {} does not hold {} bytes at offset {}",
        static_cast<std::uint32_t>(place.buffer), into.size(), place.offset);
}

}  // namespace tessera
